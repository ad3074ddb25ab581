// Runs a thread until its turn ends. Start, follow-up, resume and crash recovery are this same call.

import { abandonTurn } from "./abandon-turn.ts";
import { checkFinalMessage } from "./answer/answer.ts";
import { addLedgers, emptyLedger, reservation } from "./budget/ledger.ts";
import { runCalls } from "./calls/run-calls.ts";
import type { Log } from "./log/log.ts";
import { next } from "./next.ts";
import { injectInstructions } from "./prompt/repository.ts";
import { ask } from "./requests/ask.ts";
import { compact } from "./requests/compact.ts";
import { endOverBudget, wrapUp } from "./requests/wrap-up.ts";
import { type Dependencies, releaseProcesses, type StopReason, spentByOtherAgents, type ThreadRun } from "./running.ts";
import type { ThreadState } from "./state/state.ts";

export async function drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<ThreadState> {
  const run: ThreadRun = { ...dependencies, log, signal, reservations: dependencies.reservations ?? new Map() };
  if (log.state.turn && !signal.aborted) {
    await run.subagents?.resume(run);
    await run.hooks?.begin(run);
  }
  for (;;) {
    await applySteering(run);
    const step = next(log.state, spentByOtherAgents(run));
    if (step.do === "rest") return log.state;
    if (signal.aborted) {
      await stop(run);
      continue;
    }
    switch (step.do) {
      case "ask":
        await withReservation(run, async () => {
          if ((await injectInstructions(run)) === "none") await ask(run);
        });
        break;
      case "run":
        await runCalls(step.calls, run);
        break;
      case "compact":
        await withReservation(run, () => compact(run));
        break;
      case "wrap-up":
        await wrapUp(step.spent, run);
        break;
      case "end":
        await end(step.message, run);
        break;
      case "end-over-budget":
        await endOverBudget(step.spent, run);
        break;
      case "stop-by-hook":
        await releaseProcesses(run);
        await log.write(
          ...abandonTurn(log.state, { status: "failed", code: "hook", message: step.message, hook: step.hook }),
        );
        break;
    }
  }
}

/** Ends the turn, or lets it continue when the message must be corrected or a hook objects. Processes the model left running end with the turn. */
async function end(message: string | null, run: ThreadRun): Promise<void> {
  const { log, answer, hooks } = run;
  const result = await checkFinalMessage(message, log.state, answer);
  if (result.kind === "retry") return log.write(...result.records);
  if (result.end.status === "completed" && hooks && !(await hooks.mayEnd(result.end.message, run))) return;
  if (log.state.sessions.size > 0) await releaseProcesses(run);
  await log.write({ type: "turn.ended", turnId: log.state.turn?.turnId ?? "", end: result.end });
}

/** Ends the turn with the reason of the abort signal. */
async function stop(run: ThreadRun): Promise<void> {
  const { log, signal } = run;
  await releaseProcesses(run);
  await log.write(...abandonTurn(log.state, stopReason(signal)));
}

/** Adds input that users sent during the turn. Never between a call and its result: some providers reject such a conversation. */
async function applySteering({ log, steering, signal }: ThreadRun): Promise<void> {
  if (!steering || signal.aborted || !log.state.turn || log.state.turn.calls.length > 0) return;
  for (const { input, clientId } of steering()) {
    await log.write({ type: "input.added", origin: "user", input, ...(clientId !== undefined && { clientId }) });
  }
}

function stopReason(signal: AbortSignal): StopReason["end"] {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "end" in reason) return (reason as StopReason).end;
  return { status: "cancelled", reason: "interrupted" };
}

/** Reserved before anything is awaited, so that two threads cannot both spend the rest of the budget. */
async function withReservation(run: ThreadRun, spend: () => Promise<void>): Promise<void> {
  const { log, reservations, signal } = run;
  const { threadId, seq, turn, tokens } = log.state;
  const ledger = turn?.ledger ?? emptyLedger();
  const before = ledger.turns;
  const expected = { ...emptyLedger(), ...reservation(addLedgers(ledger, spentByOtherAgents(run)), tokens), turns: 1 };
  reservations.set(threadId, expected);
  try {
    await spend();
  } finally {
    reservations.delete(threadId);
    // The request was sent and aborted. Its cost is unknown, so it stays reserved: other threads cannot spend it.
    if (signal.aborted && ledger.turns === before) reservations.set(`${threadId} at ${seq}`, expected);
  }
}
