// MCP tools as tools of the engine.

import type { Parsed, Tool, ToolContext } from "@agentcli/engine";
import type { McpOrigin, Outcome } from "@agentcli/protocol";
import { readCallResult, type Server, type ServerTool } from "../connection/index.ts";
import { isObject, type JsonObject } from "../json.ts";
import { nameTools } from "./names.ts";
import { type CallDetails, faultOutcome, resultOutcome } from "./outcome.ts";

/** By server, then in the order the server listed them: the same servers give the same model request. */
export function serverTools(servers: Server[]): Tool[] {
  const entries = servers.flatMap((server) => server.tools().map((tool) => ({ server, tool })));
  const names = nameTools(entries.map(({ server, tool }) => ({ server: server.settings.name, tool: tool.name })));
  return entries.map(({ server, tool }, index) => engineTool(names[index] ?? "", server, tool));
}

function engineTool(name: string, server: Server, tool: ServerTool): Tool {
  const mcp = { server: server.settings.name, tool: tool.name };
  return {
    name,
    mcp,
    onResume: tool.repeatable ? "rerun" : "once",
    parallel: server.settings.parallel,
    spec: () => ({ form: "function", name, description: tool.description, parameters: tool.inputSchema }),
    parse: parseObject,
    run: (args, context) => callTool(server, mcp, args as JsonObject, context),
  };
}

export async function callTool(
  server: Server,
  origin: McpOrigin,
  args: JsonObject,
  context: ToolContext,
): Promise<Outcome> {
  const begunAt = performance.now();
  const response = await server.request(
    {
      method: "tools/call",
      params: { name: origin.tool, arguments: args },
      idleTimeoutMs: server.settings.toolTimeoutMs,
      maxTotalMs: context.toolTimeoutMs,
    },
    context.signal,
  );
  const durationMs = performance.now() - begunAt;
  const call: CallDetails = { origin, args, durationMs, context };
  return response.kind === "fault"
    ? faultOutcome(call, response.fault)
    : resultOutcome(call, readCallResult(response.result));
}

/** The server validates the arguments; here they only have to be an object. */
export function parseObject(input: string): Parsed {
  try {
    const args: unknown = JSON.parse(input.trim() === "" ? "{}" : input);
    return isObject(args)
      ? { kind: "arguments", args }
      : { kind: "problem", message: "arguments must be a JSON object" };
  } catch (error) {
    return { kind: "problem", message: `arguments are not valid JSON: ${(error as Error).message}` };
  }
}
