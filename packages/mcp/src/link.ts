// A working connection to one server: opened, greeted, its tools known.
import { pathToFileURL } from "node:url";
import { type Authorization, bearerToken, fixedHeaders, helpedHeaders } from "./authorization.ts";
import type { ChannelEvents, OpenChannel } from "./channel.ts";
import { type Answer, type Conversation, type Fault, type Listener, openConversation } from "./conversation.ts";
import { type Hello, shakeHands } from "./handshake.ts";
import type { McpHost } from "./host.ts";
import { openHttp } from "./http.ts";
import type { JsonObject } from "./json.ts";
import { openLegacySse } from "./legacy-sse.ts";
import { readList } from "./lists.ts";
import { type Clean, readTools, type ServerTool } from "./readers.ts";
import type { HttpTransport, ServerSettings } from "./settings.ts";
import { openStdio } from "./stdio.ts";

export interface Link {
  hello: Hello;
  tools: ServerTool[];
  conversation: Conversation;
}

export type Linked = { kind: "link"; link: Link } | { kind: "fault"; fault: Fault };

export interface LinkOptions {
  settings: ServerSettings;
  host: McpHost;
  processId: string;
  limitMs: number;
  onToolsChanged(): void;
  onLost(reason: string): void;
}

export async function openLink(options: LinkOptions, signal: AbortSignal): Promise<Linked> {
  const { host, limitMs } = options;
  const opened = await open(options);
  if (opened.kind === "fault") return opened;
  const { conversation } = opened;
  const greeted = await shakeHands(conversation, { client: host.client, limitMs }, signal);
  const listed =
    greeted.kind === "fault"
      ? greeted
      : await listTools({ conversation, hello: greeted.hello }, { clean: host.clean, limitMs }, signal);
  if (greeted.kind === "fault" || listed.kind === "fault") {
    await conversation.close();
    return greeted.kind === "fault" ? greeted : (listed as Extract<typeof listed, { kind: "fault" }>);
  }
  return { kind: "link", link: { hello: greeted.hello, tools: listed.result, conversation } };
}

export async function listTools(
  { conversation, hello }: Pick<Link, "conversation" | "hello">,
  { clean, limitMs }: { clean: Clean; limitMs: number },
  signal: AbortSignal,
): Promise<Answer<ServerTool[]>> {
  if (!hello.capabilities.tools) return { kind: "result", result: [] };
  const answer = await readList(conversation, { method: "tools/list", key: "tools", limitMs }, signal);
  return answer.kind === "fault" ? answer : { kind: "result", result: readTools(answer.result, clean) };
}

type Opened = { kind: "opened"; conversation: Conversation } | { kind: "fault"; fault: Fault };

async function open(options: LinkOptions): Promise<Opened> {
  try {
    return { kind: "opened", conversation: await openConversation(channelTo(options), listenerOf(options)) };
  } catch (error) {
    return { kind: "fault", fault: { kind: "lost", message: error instanceof Error ? error.message : String(error) } };
  }
}

function channelTo({ settings, host, processId }: LinkOptions): OpenChannel {
  const { transport } = settings;
  if (transport.kind === "http") return async (events) => openHttpChannel(settings.name, transport, host, events);
  return async (events) => {
    const workspace = await host.workspaceFor(transport);
    return openStdio(transport, { workspace, processId, variables: host.variables }, events);
  };
}

function openHttpChannel(server: string, transport: HttpTransport, host: McpHost, events: ChannelEvents) {
  const fixed = fixedHeaders(transport, host.variables);
  if (fixed.kind === "problem") throw new Error(fixed.message);
  const place = {
    url: new URL(transport.url),
    headers: fixed.headers,
    authorization: authorizationOf(server, transport, host),
    reach: host.reach,
  };
  return transport.wire === "sse" ? openLegacySse(place, events) : openHttp(place, events);
}

function authorizationOf(server: string, transport: HttpTransport, host: McpHost): Authorization {
  const { bearerTokenEnvVar: variable, headersHelper } = transport;
  if (headersHelper !== undefined) return helpedHeaders(async () => headersFrom(headersHelper, host));
  if (variable === undefined) return host.authorize(server, transport);
  const token = host.variables[variable];
  if (!token) throw new Error(`the variable ${variable}, which its token is read from, is not set`);
  return bearerToken(variable, token);
}

function headersFrom(command: string, host: McpHost): Promise<Record<string, string>> {
  if (!host.headersFrom) throw new Error("an http_headers_helper cannot be run here; use env_http_headers");
  return host.headersFrom(command);
}

const listenerOf = ({ settings, host, onToolsChanged, onLost }: LinkOptions): Listener => ({
  async asked(method, params) {
    if (method === "roots/list") return { roots: [{ uri: pathToFileURL(host.root).href, name: host.root }] };
    if (method === "elicitation/create") return elicit(settings.name, params, host);
    return null;
  },
  notified(method) {
    if (method === "notifications/tools/list_changed") onToolsChanged();
  },
  lost: onLost,
});

async function elicit(server: string, question: JsonObject, host: McpHost): Promise<JsonObject> {
  const answer = host.elicit ? await host.elicit(server, question) : { action: "decline" };
  return { ...answer };
}
