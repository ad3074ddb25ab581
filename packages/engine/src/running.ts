// A running thread: the dependencies of its steps, and the budget it shares with its sub-agents.
import type { AgentState, Charges, Part, ThreadRecord } from "@agentcli/protocol";
import type { AbnormalEnd } from "./abandon-turn.ts";
import type { Answer } from "./answer/answer.ts";
import type { Approver } from "./approver.ts";
import { addLedgers, emptyLedger, type Ledger } from "./budget/ledger.ts";
import type { Guard } from "./calls/guard.ts";
import type { Log } from "./log/log.ts";
import type { Model, Progress, Workspace } from "./ports.ts";
import type { Repository } from "./prompt/repository.ts";
import type { ModelAccess, RequestOptions } from "./requests/request.ts";
import type { AgentOverview } from "./state/restate.ts";
import type { Subagents } from "./subagents/subagents.ts";
import type { ThreadHooks } from "./thread-hooks.ts";
import type { Tool } from "./tools/tool.ts";

export interface Dependencies {
  model: Model;
  openModel?: ModelAccess["openModel"];
  workspace: Workspace;
  tools: Tool[];
  guard: Guard;
  repository: Repository;
  /** Maximum run time of a tool; null means unlimited. */
  toolTimeoutMs: number | null;
  /** Budget of one tool output for the model. */
  toolOutputTokens: number;
  /** Resolves after this time, or at once when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  costOf: ModelAccess["costOf"];
  requestOptions: RequestOptions;
  /** Asks for the summary of a compaction. Absent: the built-in text. */
  compactionPrompt?: string | undefined;
  /** Checks the final message. Absent: any message is accepted. */
  finalMessageCheck?: Answer | undefined;
  /** Runs approved calls without a sandbox. Absent: no call can be approved to leave the sandbox. */
  unsandboxedWorkspace?: Workspace | undefined;
  /** Absent in an unattended run. */
  approver?: Approver | undefined;
  /** Returns input that clients sent during the turn, each message once. Called between two requests. */
  steering?: (() => SteeringInput[] | Promise<SteeringInput[]>) | undefined;
  /** Absent if sub-agents are disabled. */
  subagents?: SubagentSupervisor | undefined;
  /** Absent in a thread without hooks. */
  hooks?: ThreadHooks | undefined;
  /** Shared with sub-agents. Absent: a new map. */
  reservations?: Map<string, Ledger>;
  onProgress(progress: Progress): void;
}

export interface SteeringInput {
  input: Part[];
  /** The id the client gave it. */
  clientId?: string;
}

/** A running thread, as its steps receive it. */
export interface ThreadRun extends Dependencies {
  log: Log;
  signal: AbortSignal;
  /** Admitted requests that are not charged yet, by thread. Shared with sub-agents. */
  reservations: Map<string, Ledger>;
}

/** The sub-agents of a thread, as its loop needs them. */
export interface SubagentSupervisor {
  /** For the tools of the thread. */
  agents(): Promise<Subagents>;
  /** Whether this is the main thread, not a sub-agent. */
  readonly isMain: boolean;
  /** Called when the thread begins to run: restores the children its log names. They stop when it is stopped. */
  resume(run: ThreadRun): Promise<void>;
  newId(): string;
  /** What the other threads of the tree have spent of the budget. */
  spentByOtherAgents(): Ledger;
  /** What all sub-agents used and cost for the current turn of the main thread; null if they asked no model. */
  charges(): Charges | null;
  /** The open children of the thread. */
  overview(): AgentOverview[];
  /** Children that have stopped running and were not yet reported to the thread; each is returned once. */
  news(): Record<string, AgentState>;
  /** Stops all of them. */
  end(): Promise<void>;
}

/** What the other agents of the tree (the main thread and all sub-agents but this one) have spent or reserved of the shared budget. */
export function spentByOtherAgents({ subagents, reservations, log }: BudgetShare): Ledger {
  const spent = subagents?.spentByOtherAgents() ?? emptyLedger();
  const others = [...reservations].filter(([threadId]) => threadId !== log.state.threadId);
  return others.map(([, reserved]) => reserved).reduce(addLedgers, spent);
}

interface BudgetShare {
  subagents?: { spentByOtherAgents(): Ledger } | undefined;
  reservations: Map<string, Ledger>;
  log: Log;
}

/** Adds what its sub-agents used and cost to the end of a turn of the main thread. */
export function withSubagentCharges(
  records: ThreadRecord[],
  subagents: SubagentSupervisor | undefined,
): ThreadRecord[] {
  const agents = subagents?.isMain ? subagents.charges() : null;
  if (!agents) return records;
  return records.map((record) => (record.type === "turn.ended" ? { ...record, agents } : record));
}

/** Why a turn is stopped from outside, as the reason of the abort signal. */
export interface StopReason {
  end: AbnormalEnd;
}

/** Ends processes that commands left running, inside the sandbox and outside. */
export async function endProcesses({
  workspace,
  unsandboxedWorkspace,
}: Pick<ThreadRun, "workspace" | "unsandboxedWorkspace">): Promise<void> {
  await workspace.release([]);
  await unsandboxedWorkspace?.release([]);
}
