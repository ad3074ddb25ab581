// A thread under way: what its steps need, and what it shares with its sub-agents.
import type { Part, TurnEnd, Usage } from "@agentcli/protocol";
import type { Answer } from "./answer/answer.ts";
import type { Approver } from "./approval.ts";
import { addLedgers, emptyLedger, type Ledger } from "./budget.ts";
import type { Guard } from "./guard.ts";
import type { HookGate } from "./hooks/gate.ts";
import type { Log } from "./log.ts";
import type { Model, ModelProgress, Workspace } from "./ports.ts";
import type { Repository } from "./repository.ts";
import type { Family } from "./subagents/family.ts";
import type { Tool } from "./tools/tool.ts";

export interface Dependencies {
  model: Model;
  workspace: Workspace;
  tools: Tool[];
  guard: Guard;
  repository: Repository;
  /** Longest a tool may run; null is no limit. */
  toolLimitMs: number | null;
  /** Budget of one tool output for the model. */
  outputTokens: number;
  /** Settles after this long, or at once when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** USD for this usage, or null where the price is not known. */
  price(model: string, usage: Usage): number | null;
  requestOptions: { reasoningSummary?: string; verbosity?: string; outputSchema?: object };
  /** What the final message must satisfy; without it any message will do. */
  answer?: Answer | undefined;
  /** Where approved calls act: no walls around them. */
  outside?: Workspace | undefined;
  /** Who can be asked; absent where nobody is there. */
  approver?: Approver | undefined;
  /** What was said to the thread while it works, each piece once; heard between two requests. */
  steering?: (() => SteeringInput[]) | undefined;
  /** The tree of sub-agents as the thread sees it, where there may be any. */
  family?: Family | undefined;
  /** The hooks of the thread, where it has any. */
  hooks?: HookGate | undefined;
  reservations?: Map<string, Ledger>;
  onProgress(progress: Progress): void;
}

/** Cosmetic news while something is on its way; records are the truth. */
export type Progress = ModelProgress | { type: "output"; callId: string; text: string };

export interface SteeringInput {
  input: Part[];
  /** The name a client has for it. */
  clientId?: string;
}

/** A thread under way: what each step needs. */
export interface Drive extends Dependencies {
  log: Log;
  signal: AbortSignal;
  /** Requests under way, by thread: admitted, and not paid for yet. Shared with sub-agents. */
  reservations: Map<string, Ledger>;
}

/** What others have spent or reserved of the same budget: sub-agents, or the parent and its other children. */
export function elsewhere({ family, reservations, log }: Drive): Ledger {
  const spent = family?.spentElsewhere() ?? emptyLedger();
  const others = [...reservations].filter(([threadId]) => threadId !== log.state.threadId);
  return others.map(([, reserved]) => reserved).reduce(addLedgers, spent);
}

/** Why a turn is stopped from outside, as the reason of the abort signal. */
export interface StopReason {
  end: Exclude<TurnEnd, { status: "completed" }>;
}

/** Ends what commands have left running, inside the sandbox and outside. */
export async function releaseAll({ workspace, outside }: Pick<Drive, "workspace" | "outside">): Promise<void> {
  await workspace.release([]);
  await outside?.release([]);
}
