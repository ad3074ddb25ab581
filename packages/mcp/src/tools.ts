// Tools of servers as tools of the engine.
import type { Parsed, Tool, ToolContext } from "@agentcli/engine";
import type { McpOrigin, Outcome } from "@agentcli/protocol";
import { isObject, type JsonObject } from "./json.ts";
import { nameTools } from "./names.ts";
import { type Called, faulted, succeeded } from "./outcome.ts";
import { readCallResult, type ServerTool } from "./readers.ts";
import type { Server } from "./server.ts";

/** In the order of the servers, each with its tools in the order it gave them: the same servers make the same request. */
export function serverTools(servers: Server[]): Tool[] {
  const found = servers.flatMap((server) => server.tools().map((tool) => ({ server, tool })));
  const names = nameTools(found.map(({ server, tool }) => ({ server: server.settings.name, tool: tool.name })));
  return found.map(({ server, tool }, index) => engineTool(names[index] ?? "", server, tool));
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
  context: Pick<ToolContext, "signal" | "toolLimitMs" | "outputTokens">,
): Promise<Outcome> {
  const begunAt = performance.now();
  const answer = await server.ask(
    {
      method: "tools/call",
      params: { name: origin.tool, arguments: args },
      limitMs: server.settings.toolLimitMs,
      longestMs: context.toolLimitMs,
    },
    context.signal,
  );
  const durationMs = performance.now() - begunAt;
  const called: Called = { origin, args, durationMs, outputTokens: context.outputTokens };
  return answer.kind === "fault" ? faulted(called, answer.fault) : succeeded(called, readCallResult(answer.result));
}

/** The server checks the arguments against its schema; here they only have to be an object. */
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
