// The interface of tools.
import type { McpOrigin, Outcome, ToolSpec } from "@agentcli/protocol";
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
  subagents?: { agents(): Promise<Subagents> } | undefined;
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
