// Tools that give the model the resources of servers.

import { keepForModel, type Tool, type ToolContext } from "@agentcli/engine";
import type { Outcome } from "@agentcli/protocol";
import { entriesOf, type RpcResponse, readList, type Server } from "../connection/index.ts";
import type { Json, JsonObject } from "../json.ts";
import { describeResource, imageOf, jsonFor } from "./outcome.ts";
import { parseObject } from "./tools.ts";

const text = (description: string) => ({ type: "string", description });
const whichServer = text("Name of the server; all of them unless given.");

export const resourceTools = (servers: Server[]): Tool[] => [
  readOnlyTool({
    name: "list_mcp_resources",
    description: "List the resources that MCP servers offer for reading, such as files or database schemas.",
    parameters: schema({ server: whichServer, cursor: text("Where to go on, from the last answer; needs server.") }),
    run: (args, context) => list(servers, { ...args, method: "resources/list", key: "resources" }, context),
  }),
  readOnlyTool({
    name: "list_mcp_resource_templates",
    description: "List patterns of addresses under which MCP servers offer resources.",
    parameters: schema({ server: whichServer, cursor: text("Where to go on, from the last answer; needs server.") }),
    run: (args, context) =>
      list(servers, { ...args, method: "resources/templates/list", key: "resourceTemplates" }, context),
  }),
  readOnlyTool({
    name: "read_mcp_resource",
    description: "Read one resource of an MCP server.",
    parameters: schema({ server: text("Name of the server."), uri: text("Address of the resource.") }, [
      "server",
      "uri",
    ]),
    run: (args, context) => read(servers, args, context),
  }),
];

type Args = { [name: string]: Json };

interface ReadOnlyTool {
  name: string;
  description: string;
  parameters: JsonObject;
  run(args: Args, context: ToolContext): Promise<Outcome>;
}

/** May be called again after a crash, and in parallel. */
export const readOnlyTool = ({ name, description, parameters, run }: ReadOnlyTool): Tool => ({
  name,
  onResume: "rerun",
  parallel: true,
  spec: () => ({ form: "function", name, description, parameters }),
  parse: parseObject,
  run: (args, context) => run(args as Args, context),
});

export const schema = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

interface ListRequest {
  server?: Json;
  cursor?: Json;
  method: string;
  key: string;
  /** Servers without it are skipped. */
  capability?: "resources" | "prompts";
}

export async function list(servers: Server[], listing: ListRequest, context: ToolContext): Promise<Outcome> {
  const { signal } = context;
  const { server, cursor, method, key, capability = "resources" } = listing;
  if (server !== undefined) {
    const named = findServer(servers, server);
    if (!named) return failed(unknownServer(servers, server));
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const response = await named.request({ method, params, idleTimeoutMs: named.settings.toolTimeoutMs }, signal);
    if (response.kind === "fault") return failed(`MCP server ${server}: ${response.fault.message}`);
    const { nextCursor } = response.result;
    const page = { server, [key]: entriesOf(response.result, key), ...(nextCursor && { nextCursor }) };
    return completed(jsonFor(page), context);
  }
  const capable = servers.filter((candidate) => candidate.capabilities()[capability]);
  const answers = await Promise.all(capable.map((candidate) => listAll(candidate, listing, signal)));
  return completed(jsonFor({ [key]: answers.flat() }), context);
}

async function listAll(server: Server, { method, key }: ListRequest, signal: AbortSignal): Promise<JsonObject[]> {
  const { name, toolTimeoutMs } = server.settings;
  const response: RpcResponse<JsonObject[]> = await readList(
    server,
    { method, key, idleTimeoutMs: toolTimeoutMs },
    signal,
  );
  if (response.kind === "fault") return [{ server: name, error: response.fault.message }];
  return response.result.map((entry) => ({ server: name, ...entry }));
}

async function read(servers: Server[], { server, uri }: Args, context: ToolContext): Promise<Outcome> {
  const named = findServer(servers, server);
  if (!named) return failed(unknownServer(servers, server));
  if (typeof uri !== "string") return failed("read_mcp_resource needs the uri of a resource");
  const request = { method: "resources/read", params: { uri }, idleTimeoutMs: named.settings.toolTimeoutMs };
  const response = await named.request(request, context.signal);
  if (response.kind === "fault") return failed(`MCP server ${named.settings.name}: ${response.fault.message}`);
  const contents = entriesOf(response.result, "contents");
  const origin = { server: named.settings.name, tool: uri };
  const outcome = await completed(contents.map(describeResource).join("\n"), context);
  const images = contents.flatMap((resource) => imageOf({ type: "resource", resource }, origin));
  return { ...outcome, parts: [...outcome.parts, ...images] };
}

export const findServer = (servers: Server[], name: Json | undefined): Server | undefined =>
  servers.find((server) => server.settings.name === name);

export const unknownServer = (servers: Server[], name: Json | undefined): string =>
  `unknown MCP server ${JSON.stringify(name ?? null)}; available are ${servers.map((server) => server.settings.name).join(", ")}`;

export const failed = (message: string): Outcome => ({
  status: "failed",
  parts: [{ type: "text", text: message }],
  reason: message,
  detail: { kind: "none" },
});

export async function completed(whole: string, context: ToolContext): Promise<Outcome> {
  const { text, note } = await keepForModel(whole, context);
  return {
    status: "completed",
    parts: [{ type: "text", text: note === undefined ? text : `${note}\n${text}` }],
    detail: { kind: "none" },
  };
}
