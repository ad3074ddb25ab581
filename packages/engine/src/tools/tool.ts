// The interface of tools, and how the built-in ones are created.
import type { McpOrigin, Outcome, ToolArguments, ToolName, ToolSpec } from "@agentcli/protocol";
import { toolSchemas } from "@agentcli/protocol/tool-schemas";
import type { Approver } from "../approver.ts";
import type { Progress, Workspace } from "../ports.ts";
import { textPart } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";
import type { Subagents } from "../subagents/subagents.ts";

export interface ToolContext {
  callId: string;
  workspace: Workspace;
  state: ThreadState;
  /** Time limit of a call; null means unlimited. */
  toolTimeoutMs: number | null;
  /** The model's copy of an output is truncated to this, unless the call asks for less. */
  outputTokens: number;
  signal: AbortSignal;
  /** For tools that create something: its id, the same when the call is repeated after a crash. */
  createdId?: string | undefined;
  onProgress(progress: Progress): void;
  /** Resolves after this time, or at once when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Absent in an unattended run. */
  user?: Pick<Approver, "answer"> | undefined;
  /** Absent if sub-agents are disabled. */
  subagents?: Subagents | undefined;
}

export type Parsed =
  /** Notes are for the model, with the outcome of the call. */
  { kind: "arguments"; args: unknown; notes?: string[] } | { kind: "problem"; message: string };

export interface Tool {
  name: string;
  /** Whether a call interrupted by a crash may be repeated. */
  onResume: "rerun" | "once";
  /** Whether calls of this tool may run concurrently with others of the same reply. */
  parallel: boolean;
  /** Set for a tool of an MCP server: how the call is shown. */
  mcp?: McpOrigin;
  /** Offered only to models that replace text better than they write patches. */
  forStringEdits?: boolean;
  /** Tools are offered in the form the model understands best. */
  spec(forms: { freeform: boolean }): ToolSpec;
  parse(input: string, form: "function" | "freeform"): Parsed | Promise<Parsed>;
  run(args: unknown, context: ToolContext): Promise<Outcome>;
  /** The call creates something under an id chosen before it begins, so that repeating it creates no second one. */
  createsWithId?: boolean;
}

interface BuiltIn<Name extends ToolName> {
  name: Name;
  description: string;
  onResume: "rerun" | "once";
  parallel: boolean;
  createsWithId?: boolean;
  run(args: ToolArguments[Name], context: ToolContext): Promise<Outcome>;
}

export function builtIn<Name extends ToolName>(tool: BuiltIn<Name>): Tool {
  return {
    ...tool,
    spec: () => functionSpec(tool.name, tool.description),
    parse: (input) => parseArguments(tool.name, input),
    run: (args, context) => tool.run(args as ToolArguments[Name], context),
  };
}

export const functionSpec = (name: ToolName, description: string): ToolSpec => ({
  form: "function",
  name,
  description,
  parameters: toolSchemas[name] as unknown as Extract<ToolSpec, { form: "function" }>["parameters"],
});

export async function parseArguments(name: ToolName, input: string): Promise<Parsed> {
  const json = parseJson(input.trim() === "" ? "{}" : input);
  if (json.kind === "problem") return json;
  const validators = await import("@agentcli/protocol/validators/tools");
  const validate = validators[name];
  if (validate(json.args)) return json;
  const { coerceArguments } = await import("./coerce.ts");
  const schema = toolSchemas[name];
  const { args, ignored } = coerceArguments(json.args, schema);
  if (validate(args)) return { kind: "arguments", args, notes: ignored.map((member) => ignoredNote(name, member)) };
  const given = ignored.length > 0 ? `; unknown: ${ignored.join(", ")}` : "";
  return {
    kind: "problem",
    message: `invalid arguments for ${name}: ${describeViolation(validate.errors?.[0])}${given}`,
  };
}

const ignoredNote = (name: ToolName, member: string): string =>
  `${name} has no argument ${member}: it was ignored. Its arguments: ${Object.keys(toolSchemas[name].properties).join(", ")}.`;

function parseJson(input: string): Parsed {
  try {
    return { kind: "arguments", args: JSON.parse(input) };
  } catch (error) {
    return { kind: "problem", message: `arguments are not valid JSON: ${(error as Error).message}` };
  }
}

interface Violation {
  instancePath: string;
  keyword: string;
  message?: string;
  params: Record<string, unknown>;
}

function describeViolation(violation: Violation | undefined): string {
  if (!violation) return "they do not match the schema";
  const where = violation.instancePath.slice(1).replaceAll("/", ".") || "the arguments";
  const extra = violation.params.additionalProperty ?? violation.params.allowedValues;
  return `${where} ${violation.message ?? "is not valid"}${extra === undefined ? "" : ` (${String(extra)})`}`;
}

export const failed = (text: string): Outcome => ({
  status: "failed",
  parts: [textPart(text)],
  reason: text,
  detail: { kind: "none" },
});

export const completed = (text: string): Outcome => ({
  status: "completed",
  parts: [textPart(text)],
  detail: { kind: "none" },
});
