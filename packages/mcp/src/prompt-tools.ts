// Tools that show the model the prompts of servers: ready-made instructions for tasks they know.
import { type Tool, type ToolContext, truncateForModel } from "@agentcli/engine";
import type { Outcome } from "@agentcli/protocol";
import { isObject, type Json, type JsonObject, textOf } from "./json.ts";
import { entriesOf } from "./lists.ts";
import { describeResource } from "./outcome.ts";
import { failed, findServer, list, lookingTool, schema, unknownServer } from "./resource-tools.ts";
import type { Server } from "./server.ts";

const text = (description: string) => ({ type: "string", description });

/** Offered only where a server has prompts: most have none. */
export const promptTools = (servers: Server[]): Tool[] =>
  servers.some((server) => server.capabilities().prompts) ? [listPrompts(servers), getPrompt(servers)] : [];

const listPrompts = (servers: Server[]): Tool =>
  lookingTool({
    name: "list_mcp_prompts",
    description: "List ready-made prompts of MCP servers: instructions for tasks they know.",
    parameters: schema({ server: text("Name of the server; all of them unless given.") }),
    run: ({ server }, context) =>
      list(servers, { server, method: "prompts/list", key: "prompts", capability: "prompts" }, context),
  });

const getPrompt = (servers: Server[]): Tool =>
  lookingTool({
    name: "get_mcp_prompt",
    description: "Read one prompt of an MCP server, filled in with arguments.",
    parameters: schema(
      {
        server: text("Name of the server."),
        name: text("Name of the prompt."),
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      ["server", "name"],
    ),
    run: (args, context) => read(servers, args, context),
  });

async function read(
  servers: Server[],
  { server, name, arguments: args }: { [name: string]: Json },
  { signal, outputTokens }: ToolContext,
): Promise<Outcome> {
  const named = findServer(servers, server);
  if (!named) return failed(unknownServer(servers, server));
  if (typeof name !== "string") return failed("get_mcp_prompt needs the name of a prompt");
  const params = { name, arguments: isObject(args) ? args : {} };
  const question = { method: "prompts/get", params, limitMs: named.settings.toolLimitMs };
  const answer = await named.ask(question, signal);
  if (answer.kind === "fault") return failed(`MCP server ${named.settings.name}: ${answer.fault.message}`);
  const said = entriesOf(answer.result, "messages").map(describeMessage).join("\n\n");
  return {
    status: "completed",
    parts: [{ type: "text", text: truncateForModel(said, outputTokens) }],
    detail: { kind: "none" },
  };
}

function describeMessage({ role, content }: JsonObject): string {
  const block = isObject(content) ? content : {};
  const said = isObject(block.resource) ? describeResource(block.resource) : textOf(block.text);
  return `${textOf(role) ?? "user"}: ${said ?? JSON.stringify(block)}`;
}
