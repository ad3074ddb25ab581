// The points at which a thread runs its hooks. A thread without hooks has none of this and does not load their code.
import type { Outcome, TurnEnd } from "@agentcli/protocol";
import type { Ledger } from "./budget/ledger.ts";
import type { Verdict } from "./calls/guard.ts";
import type { ModelReply, Progress, Workspace } from "./ports.ts";
import type { ModelAccess } from "./requests/request.ts";
import type { Tool } from "./tools/tool.ts";

export interface AgentIdentity {
  id: string;
  type: string;
  task: string;
}

export interface PlannedCall {
  callId: string;
  tool: Tool;
  args: unknown;
}

export type Admission =
  /** Notes are for the model, with the outcome. */
  { kind: "admitted"; args: unknown; notes?: string[] } | { kind: "declined"; reason: string };

export type SpawnVerdict = { kind: "refused"; reason: string } | { kind: "allowed"; context: string[] };

/** The parts of a thread that its hooks use. */
export interface HookContext extends ModelAccess {
  onProgress(progress: Progress): void;
  workspace: Workspace;
  /** Hooks may call those of MCP servers. */
  tools: Tool[];
  /** Resolves after this time, or at once when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Prompt hooks reserve their expected cost here. */
  reservations: Map<string, Ledger>;
  subagents?: { spentByOtherAgents(): Ledger } | undefined;
}

/** Decisions of hooks are in the log before they take effect. No method throws because of a hook. */
// More than eight methods because each is one point of the loop: a second interface would have the same user.
export interface ThreadHooks {
  /** The session has started and a prompt was given. Each is reported once, also when the turn is resumed. */
  begin(thread: HookContext): Promise<void>;
  /** Before a call; hooks may rewrite its arguments. */
  admit(call: PlannedCall, thread: HookContext): Promise<Admission>;
  /** A call that needs an approval; null if no hook decides. */
  approve(call: PlannedCall, thread: HookContext): Promise<Exclude<Verdict, { kind: "unapproved" }> | null>;
  /** The outcome of a call, as the model receives it. */
  settled(call: PlannedCall, outcome: Outcome, thread: HookContext): Promise<Outcome>;
  replied(reply: Extract<ModelReply, { kind: "replied" }>, thread: HookContext): Promise<void>;
  compaction(phase: "before" | "after", thread: HookContext): Promise<void>;
  /** False if the turn continues: the input it continues with has been added. */
  mayEnd(message: string, thread: HookContext): Promise<boolean>;
  /** A sub-agent is about to start. */
  spawning(agent: AgentIdentity, thread: HookContext): Promise<SpawnVerdict>;
  /** The same hooks, run by a sub-agent. */
  forAgent(agent: AgentIdentity, parentId: string): ThreadHooks;
  /** The last turn of the process is about to end with this result; reactions have no effect. */
  endSession(end: TurnEnd, thread: HookContext): Promise<void>;
}
