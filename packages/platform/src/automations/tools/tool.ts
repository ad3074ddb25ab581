// Tools that the platform itself gives to a run. They run in the server, outside the sandbox, and are shown like those of
// an MCP server with the name `platform`.
import type { Tool } from "@agentcli/engine";
import type { Outcome, ToolSpec } from "@agentcli/protocol";
import { z } from "zod";

export interface PlatformTool<Arguments extends z.ZodType> {
  name: string;
  description: string;
  arguments: Arguments;
  /** Whether a call that a crash has interrupted may be repeated. */
  onResume: Tool["onResume"];
  run(args: z.infer<Arguments>, signal: AbortSignal): Promise<ToolAnswer>;
}

export type ToolAnswer = { kind: "done"; text: string } | { kind: "refused"; reason: string };

export const done = (text: string): ToolAnswer => ({ kind: "done", text });
export const refused = (reason: string): ToolAnswer => ({ kind: "refused", reason });

const server = "platform";

export function platformTool<Arguments extends z.ZodType>(tool: PlatformTool<Arguments>): Tool {
  const name = `mcp__${server}__${tool.name}`;
  return {
    name,
    mcp: { server, tool: tool.name },
    onResume: tool.onResume,
    parallel: false,
    spec: () => ({ form: "function", name, description: tool.description, parameters: parametersOf(tool.arguments) }),
    parse(input) {
      const read = readArguments(tool.arguments, input);
      return read.kind === "problem" ? read : { kind: "arguments", args: read.args };
    },
    async run(args, { signal }) {
      const begunAt = performance.now();
      // Parsed once already: the log holds them as JSON.
      const answer = await tool.run(tool.arguments.parse(args), signal);
      return outcomeOf({ tool: tool.name, args, durationMs: performance.now() - begunAt }, answer);
    },
  };
}

type Parameters = Extract<ToolSpec, { form: "function" }>["parameters"];

/** Of schemas that all runs share: to make one takes longer than a query. */
const known = new WeakMap<z.ZodType, Parameters>();

function parametersOf(schema: z.ZodType): Parameters {
  const parameters = known.get(schema) ?? (z.toJSONSchema(schema) as Parameters);
  known.set(schema, parameters);
  return parameters;
}

type ReadArguments = { kind: "arguments"; args: unknown } | { kind: "problem"; message: string };

function readArguments(schema: z.ZodType, input: string): ReadArguments {
  try {
    // No name or text has one, and the database stores none.
    if (/\u0000|\\u0000/.test(input)) return { kind: "problem", message: "arguments have a null character" };
    const parsed = schema.safeParse(JSON.parse(input.trim() === "" ? "{}" : input));
    if (parsed.success) return { kind: "arguments", args: parsed.data };
    const [issue] = parsed.error.issues;
    return { kind: "problem", message: `${issue?.path.join(".") || "arguments"}: ${issue?.message}` };
  } catch (error) {
    return { kind: "problem", message: `arguments are not valid JSON: ${(error as Error).message}` };
  }
}

interface CallDetails {
  tool: string;
  args: unknown;
  durationMs: number;
}

export function outcomeOf({ tool, args, durationMs }: CallDetails, answer: ToolAnswer): Outcome {
  const isDone = answer.kind === "done";
  const text = isDone ? answer.text : answer.reason;
  const result = { content: [{ type: "text", text }], structuredContent: null };
  const detail = { kind: "mcp", server, tool, arguments: JSON.parse(JSON.stringify(args)), durationMs } as const;
  return {
    status: isDone ? "completed" : "failed",
    parts: [{ type: "text", text }],
    ...(!isDone && { reason: text }),
    detail: { ...detail, result: isDone ? result : null, error: isDone ? null : text },
  };
}
