// A working connection to one server: opened, initialized, its tools listed.
import { pathToFileURL } from "node:url";
import type { McpHost } from "../host.ts";
import type { JsonObject } from "../json.ts";
import type { HttpTransport, ServerSettings } from "../settings.ts";
import {
  type Authorization,
  bearerToken,
  type ChannelEvents,
  configuredHeaders,
  helperHeaders,
  type OpenChannel,
  openHttp,
  openLegacySse,
  openStdio,
} from "../transport/index.ts";
import { type InitializeResult, initialize } from "./initialize.ts";
import { readList } from "./lists.ts";
import { readTools, type Sanitize, type ServerTool } from "./readers.ts";
import { type Fault, openRpcClient, type RpcClient, type RpcHandler, type RpcResponse } from "./rpc-client.ts";

export interface Connection {
  initialized: InitializeResult;
  tools: ServerTool[];
  client: RpcClient;
}

export type ConnectionResult = { kind: "connected"; connection: Connection } | { kind: "fault"; fault: Fault };

export interface ConnectionOptions {
  settings: ServerSettings;
  host: McpHost;
  processId: string;
  timeoutMs: number;
  onToolsChanged(): void;
  onLost(reason: string): void;
}

export async function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<ConnectionResult> {
  const { host, timeoutMs } = options;
  const opened = await open(options);
  if (opened.kind === "fault") return opened;
  const { client } = opened;
  const initialized = await initialize(client, { clientInfo: host.client, timeoutMs }, signal);
  const listed =
    initialized.kind === "fault"
      ? initialized
      : await listTools({ client, initialized: initialized.result }, { sanitize: host.sanitize, timeoutMs }, signal);
  if (initialized.kind === "fault" || listed.kind === "fault") {
    await client.close();
    return initialized.kind === "fault" ? initialized : (listed as Extract<typeof listed, { kind: "fault" }>);
  }
  return { kind: "connected", connection: { initialized: initialized.result, tools: listed.result, client } };
}

export async function listTools(
  { client, initialized }: Pick<Connection, "client" | "initialized">,
  { sanitize, timeoutMs }: { sanitize: Sanitize; timeoutMs: number },
  signal: AbortSignal,
): Promise<RpcResponse<ServerTool[]>> {
  if (!initialized.capabilities.tools) return { kind: "result", result: [] };
  const response = await readList(client, { method: "tools/list", key: "tools", idleTimeoutMs: timeoutMs }, signal);
  return response.kind === "fault" ? response : { kind: "result", result: readTools(response.result, sanitize) };
}

type OpenResult = { kind: "opened"; client: RpcClient } | { kind: "fault"; fault: Fault };

async function open(options: ConnectionOptions): Promise<OpenResult> {
  try {
    return { kind: "opened", client: await openRpcClient(channelTo(options), handlerOf(options)) };
  } catch (error) {
    return { kind: "fault", fault: { kind: "lost", message: error instanceof Error ? error.message : String(error) } };
  }
}

function channelTo({ settings, host, processId }: ConnectionOptions): OpenChannel {
  const { transport } = settings;
  if (transport.kind === "http") return async (events) => openHttpChannel(settings.name, transport, host, events);
  return async (events) => {
    const workspace = await host.workspaceFor(transport);
    return openStdio(transport, { workspace, processId, variables: host.variables }, events);
  };
}

function openHttpChannel(server: string, transport: HttpTransport, host: McpHost, events: ChannelEvents) {
  const configured = configuredHeaders(transport, host.variables);
  if (configured.kind === "problem") throw new Error(configured.message);
  const endpoint = {
    url: new URL(transport.url),
    headers: configured.headers,
    authorization: authorizationOf(server, transport, host),
    lookupFor: host.lookupFor,
  };
  return transport.wire === "sse" ? openLegacySse(endpoint, events) : openHttp(endpoint, events);
}

function authorizationOf(server: string, transport: HttpTransport, host: McpHost): Authorization {
  const { bearerTokenEnvVar: variable, headersHelper } = transport;
  if (headersHelper !== undefined) return helperHeaders(async () => runHeadersHelper(headersHelper, host));
  if (variable === undefined) return host.authorize(server, transport);
  const token = host.variables[variable];
  if (!token)
    throw new Error(
      `the environment variable ${variable}, named by bearer_token_env_var, is not set or empty. Set it to the token of the server.`,
    );
  return bearerToken(variable, token);
}

function runHeadersHelper(command: string, host: McpHost): Promise<Record<string, string>> {
  if (!host.headersFrom) throw new Error("http_headers_helper is not supported here; use env_http_headers");
  return host.headersFrom(command);
}

const handlerOf = ({ settings, host, onToolsChanged, onLost }: ConnectionOptions): RpcHandler => ({
  async request(method, params) {
    if (method === "roots/list") return { roots: [{ uri: pathToFileURL(host.root).href, name: host.root }] };
    if (method === "elicitation/create") return elicit(settings.name, params, host);
    return null;
  },
  notification(method) {
    if (method === "notifications/tools/list_changed") onToolsChanged();
  },
  lost: onLost,
});

async function elicit(server: string, question: JsonObject, host: McpHost): Promise<JsonObject> {
  const answer = host.elicit ? await host.elicit(server, question) : { action: "decline" };
  return { ...answer };
}
