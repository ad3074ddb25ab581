// Functions of the calling program as tools of a server named custom-user-tools.
import type { Parsed, Tool, ToolContext } from "@agentcli/engine";
import { type Draft, openDraft, type Validator } from "@agentcli/host/json-schema";
import { type CallResult, nameTools, parseObject, resultOutcome } from "@agentcli/mcp";
import type { McpResult, Outcome } from "@agentcli/protocol";
import { ConfigurationError } from "../../errors.ts";
import type { CustomTool, CustomToolContent } from "../../local-options.ts";

/** As it is in results: any JSON. */
type Json = McpResult["structuredContent"];

export const customServer = "custom-user-tools";

/** Refuses names and schemas that cannot be used, before anything is asked. */
export function customTools(tools: Record<string, CustomTool>): Tool[] {
  const entries = Object.entries(tools);
  const names = nameTools(entries.map(([tool]) => ({ server: customServer, tool })));
  return entries.map(([tool, definition], index) => engineTool(names[index] ?? tool, tool, definition));
}

function engineTool(name: string, tool: string, definition: CustomTool): Tool {
  const { description = "", inputSchema = anyObject, annotations = {} } = definition;
  if (typeof definition.execute !== "function") throw invalid(tool, "execute must be a function.");
  const input = compiled(tool, "inputSchema", inputSchema);
  const output = definition.outputSchema && compiled(tool, "outputSchema", definition.outputSchema);
  return {
    name,
    mcp: { server: customServer, tool },
    onResume: annotations.readOnlyHint || annotations.idempotentHint ? "rerun" : "once",
    parallel: annotations.readOnlyHint === true,
    spec: () => ({ form: "function", name, description, parameters: inputSchema as { [key: string]: Json } }),
    parse: (text) => checked(parseObject(text), input),
    run: (args, context) => call({ tool, definition, output }, args as Record<string, unknown>, context),
  };
}

const anyObject = { type: "object", properties: {}, additionalProperties: true };

interface Callable {
  tool: string;
  definition: CustomTool;
  output: Validator | undefined;
}

/** Settles in every case: what the function throws, and that it was stopped, is an outcome. */
async function call(callable: Callable, args: Record<string, unknown>, context: ToolContext): Promise<Outcome> {
  const begunAt = performance.now();
  const result = await resultOf(callable, args, context);
  return resultOutcome(
    {
      origin: { server: customServer, tool: callable.tool },
      args: args as Json,
      durationMs: performance.now() - begunAt,
      context,
    },
    result,
  );
}

async function resultOf(
  { tool, definition, output }: Callable,
  args: Record<string, unknown>,
  { callId, signal }: ToolContext,
): Promise<CallResult> {
  try {
    const context = { toolCallId: callId, signal };
    const result = contentOf(await untilStopped(async () => definition.execute(args, context), signal));
    const problems = result.structuredContent === null ? [] : (output?.problems(result.structuredContent) ?? []);
    return problems.length === 0
      ? result
      : failure(`${tool} returned a result that does not match its outputSchema: ${shown(problems)}`);
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

/** A function that ignores its signal keeps running, but the run does not wait for it. */
function untilStopped<Value>(act: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("the run was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    else
      act()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", stop));
  });
}

function contentOf(value: unknown): CallResult {
  if (isContent(value)) {
    const { content, isError = false, structuredContent = null } = value;
    return { content: plain(content), isError, structuredContent: plain(structuredContent), meta: undefined };
  }
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return { content: [{ type: "text", text }], structuredContent: null, meta: undefined, isError: false };
}

/** As JSON would carry it: what a program gives may be anything. */
const plain = <Value>(value: unknown): Value => JSON.parse(JSON.stringify(value));

const isContent = (value: unknown): value is CustomToolContent =>
  typeof value === "object" && value !== null && "content" in value && Array.isArray(value.content);

const failure = (text: string): CallResult => ({
  content: [{ type: "text", text }],
  structuredContent: null,
  meta: undefined,
  isError: true,
});

function checked(parsed: Parsed, validator: Validator): Parsed {
  if (parsed.kind === "problem") return parsed;
  const problems = validator.problems(parsed.args);
  return problems.length === 0 ? parsed : { kind: "problem", message: `wrong arguments: ${shown(problems)}` };
}

// More would bury the cause.
const shown = (problems: string[]): string => problems.slice(0, 10).join("; ");

function compiled(tool: string, member: string, schema: Record<string, unknown>): Validator {
  const draft: Draft = openDraft(schema);
  const problems = draft.problems();
  if (member === "inputSchema" && (schema.type ?? "object") !== "object") problems.push("/type must be object");
  if (problems.length > 0) throw invalid(tool, `${member} is not a usable JSON Schema: ${shown(problems)}`);
  try {
    return draft.compile();
  } catch (error) {
    throw invalid(tool, `${member} is not a usable JSON Schema: ${(error as Error).message}`);
  }
}

const invalid = (tool: string, message: string): ConfigurationError =>
  new ConfigurationError(`customTools.${tool}: ${message}`, { code: "invalid_option", operation: "Agent.create" });
