// Tools that give the model the prompts of servers.

import type { Tool, ToolContext } from "@agentcli/engine";
import type { Outcome } from "@agentcli/protocol";
import { entriesOf, type Server } from "../connection/index.ts";
import { isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { describeResource } from "./outcome.ts";
import { completed, failed, findServer, list, readOnlyTool, schema, unknownServer } from "./resource-tools.ts";

const text = (description: string) => ({ type: "string", description });

/** Only if a server has prompts: most have none. */
export const promptTools = (servers: Server[]): Tool[] =>
  servers.some((server) => server.capabilities().prompts) ? [listPrompts(servers), getPrompt(servers)] : [];

const listPrompts = (servers: Server[]): Tool =>
  readOnlyTool({
    name: "list_mcp_prompts",
    description: "List ready-made prompts of MCP servers: instructions for tasks they know.",
    parameters: schema({ server: text("Name of the server; all of them unless given.") }),
    run: ({ server }, context) =>
      list(servers, { server, method: "prompts/list", key: "prompts", capability: "prompts" }, context),
  });

const getPrompt = (servers: Server[]): Tool =>
  readOnlyTool({
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
  context: ToolContext,
): Promise<Outcome> {
  const named = findServer(servers, server);
  if (!named) return failed(unknownServer(servers, server));
  if (typeof name !== "string") return failed("get_mcp_prompt needs the name of a prompt");
  const params = { name, arguments: isObject(args) ? args : {} };
  const request = { method: "prompts/get", params, idleTimeoutMs: named.settings.toolTimeoutMs };
  const response = await named.request(request, context.signal);
  if (response.kind === "fault") return failed(`MCP server ${named.settings.name}: ${response.fault.message}`);
  const messages = entriesOf(response.result, "messages").map(describeMessage).join("\n\n");
  return completed(messages, context);
}

function describeMessage({ role, content }: JsonObject): string {
  const block = isObject(content) ? content : {};
  const shown = isObject(block.resource) ? describeResource(block.resource) : textOf(block.text);
  return `${textOf(role) ?? "user"}: ${shown ?? JSON.stringify(block)}`;
}
