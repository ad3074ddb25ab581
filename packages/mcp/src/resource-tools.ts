// Tools that show the model what servers have to read.
import { type Tool, type ToolContext, truncateForModel } from "@agentcli/engine";
import type { Outcome } from "@agentcli/protocol";
import type { Answer } from "./conversation.ts";
import type { Json, JsonObject } from "./json.ts";
import { entriesOf, readList } from "./lists.ts";
import { describeResource, imageOf } from "./outcome.ts";
import type { Server } from "./server.ts";
import { parseObject } from "./tools.ts";

const text = (description: string) => ({ type: "string", description });
const whichServer = text("Name of the server; all of them unless given.");

export const resourceTools = (servers: Server[]): Tool[] => [
  lookingTool({
    name: "list_mcp_resources",
    description: "List the resources that MCP servers offer for reading, such as files or database schemas.",
    parameters: schema({ server: whichServer, cursor: text("Where to go on, from the last answer; needs server.") }),
    run: (args, context) => list(servers, { ...args, method: "resources/list", key: "resources" }, context),
  }),
  lookingTool({
    name: "list_mcp_resource_templates",
    description: "List patterns of addresses under which MCP servers offer resources.",
    parameters: schema({ server: whichServer, cursor: text("Where to go on, from the last answer; needs server.") }),
    run: (args, context) =>
      list(servers, { ...args, method: "resources/templates/list", key: "resourceTemplates" }, context),
  }),
  lookingTool({
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

interface Looking {
  name: string;
  description: string;
  parameters: JsonObject;
  run(args: Args, context: ToolContext): Promise<Outcome>;
}

/** A tool that only looks: calls of it may be made again and beside others. */
export const lookingTool = ({ name, description, parameters, run }: Looking): Tool => ({
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

interface Listing {
  server?: Json;
  cursor?: Json;
  method: string;
  key: string;
  /** Servers that do not offer this at all are not asked. */
  capability?: "resources" | "prompts";
}

export async function list(
  servers: Server[],
  listing: Listing,
  { signal, outputTokens }: ToolContext,
): Promise<Outcome> {
  const { server, cursor, method, key, capability = "resources" } = listing;
  if (server !== undefined) {
    const named = findServer(servers, server);
    if (!named) return failed(unknownServer(servers, server));
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const answer = await named.ask({ method, params, limitMs: named.settings.toolLimitMs }, signal);
    if (answer.kind === "fault") return failed(`MCP server ${server}: ${answer.fault.message}`);
    const { nextCursor } = answer.result;
    return completed({ server, [key]: entriesOf(answer.result, key), ...(nextCursor && { nextCursor }) }, outputTokens);
  }
  const able = servers.filter((candidate) => candidate.capabilities()[capability]);
  const answers = await Promise.all(able.map((candidate) => listAll(candidate, listing, signal)));
  return completed({ [key]: answers.flat() }, outputTokens);
}

async function listAll(server: Server, { method, key }: Listing, signal: AbortSignal): Promise<JsonObject[]> {
  const { name, toolLimitMs } = server.settings;
  const answer: Answer<JsonObject[]> = await readList(server, { method, key, limitMs: toolLimitMs }, signal);
  if (answer.kind === "fault") return [{ server: name, error: answer.fault.message }];
  return answer.result.map((entry) => ({ server: name, ...entry }));
}

async function read(servers: Server[], { server, uri }: Args, { signal, outputTokens }: ToolContext): Promise<Outcome> {
  const named = findServer(servers, server);
  if (!named) return failed(unknownServer(servers, server));
  if (typeof uri !== "string") return failed("read_mcp_resource needs the uri of a resource");
  const question = { method: "resources/read", params: { uri }, limitMs: named.settings.toolLimitMs };
  const answer = await named.ask(question, signal);
  if (answer.kind === "fault") return failed(`MCP server ${named.settings.name}: ${answer.fault.message}`);
  const contents = entriesOf(answer.result, "contents");
  const origin = { server: named.settings.name, tool: uri };
  return {
    status: "completed",
    parts: [
      { type: "text", text: truncateForModel(contents.map(describeResource).join("\n"), outputTokens) },
      ...contents.flatMap((resource) => imageOf({ type: "resource", resource }, origin)),
    ],
    detail: { kind: "none" },
  };
}

export const findServer = (servers: Server[], name: Json | undefined): Server | undefined =>
  servers.find((server) => server.settings.name === name);

export const unknownServer = (servers: Server[], name: Json | undefined): string =>
  `there is no MCP server ${JSON.stringify(name ?? null)}; known are ${servers.map((server) => server.settings.name).join(", ")}`;

export const failed = (message: string): Outcome => ({
  status: "failed",
  parts: [{ type: "text", text: message }],
  reason: message,
  detail: { kind: "none" },
});

const completed = (value: Json, outputTokens: number): Outcome => ({
  status: "completed",
  parts: [{ type: "text", text: truncateForModel(JSON.stringify(value), outputTokens) }],
  detail: { kind: "none" },
});
