// Takes a thread as far as it goes. Start, follow-up, resume and crash recovery are this same call.
import type { TurnEnd, Usage } from "@agentcli/protocol";
import { ask } from "./ask.ts";
import { compact } from "./compact.ts";
import type { Guard } from "./guard.ts";
import type { Log } from "./log.ts";
import { next } from "./next.ts";
import type { Model, ModelProgress, Workspace } from "./ports.ts";
import { hearRepository, type Repository } from "./repository.ts";
import { runCalls } from "./run.ts";
import type { ThreadState } from "./state.ts";
import type { Tool } from "./tools/tool.ts";
import { abandonTurn } from "./turn.ts";
import { wrapUp } from "./wrap-up.ts";

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
  onProgress(progress: ModelProgress): void;
}

/** A thread under way: what each step needs. */
export interface Drive extends Dependencies {
  log: Log;
  signal: AbortSignal;
}

/** Why a turn is stopped from outside, as the reason of the abort signal. */
export interface StopReason {
  end: Exclude<TurnEnd, { status: "completed" }>;
}

export async function drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<ThreadState> {
  const run: Drive = { ...dependencies, log, signal };
  for (;;) {
    const step = next(log.state);
    if (step.do === "rest") return log.state;
    if (signal.aborted) {
      await stop(run);
      continue;
    }
    switch (step.do) {
      case "ask":
        if ((await hearRepository(run)) === "nothing new") await ask(run);
        break;
      case "run":
        await runCalls(step.calls, run);
        break;
      case "compact":
        await compact(run);
        break;
      case "wrap-up":
        await wrapUp(step.spent, run);
        break;
      case "end":
        await end(step.message, run);
        break;
    }
  }
}

/** Processes kept for the model live as long as the turn. */
async function end(message: string | null, { log, workspace }: Drive): Promise<void> {
  if (log.state.sessions.size > 0) await workspace.release([]);
  const end: TurnEnd =
    message === null
      ? { status: "failed", code: "empty", message: "The model ended the turn without a final message." }
      : { status: "completed", message };
  await log.write({ type: "turn.ended", turnId: log.state.turn?.turnId ?? "", end });
}

async function stop({ log, workspace, signal }: Drive): Promise<void> {
  await workspace.release([]);
  await log.write(...abandonTurn(log.state, stopReason(signal)));
}

function stopReason(signal: AbortSignal): StopReason["end"] {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "end" in reason) return (reason as StopReason).end;
  return { status: "cancelled", reason: "interrupted" };
}
