// The answer of one hook, in a form common to all dialects.
export interface Reaction {
  status: "completed" | "blocked" | "failed";
  /** Why it is blocked or failed; empty otherwise. */
  reason: string;
  /** Refuses a call or replaces its result; at the end of a turn: what the agent continues with. */
  block?: string;
  approves?: true;
  /** New arguments of the call; `command` stands for the command or the patch. */
  input?: Record<string, unknown>;
  /** For the model. */
  context?: string;
  /** Ends the turn. */
  stop?: string;
  /** Replaces the output of a tool. */
  output?: string;
  /** For later hooks. */
  environment?: Record<string, string>;
  /** For people. */
  warning?: string;
}

export const completed = (more: Partial<Reaction> = {}): Reaction => ({ status: "completed", reason: "", ...more });
export const blocked = (reason: string, more: Partial<Reaction> = {}): Reaction => ({
  status: "blocked",
  reason,
  block: reason,
  ...more,
});
export const failed = (reason: string): Reaction => ({ status: "failed", reason });
