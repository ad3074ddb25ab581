// Takes a thread as far as it goes. Start, follow-up, resume and crash recovery are this same call.
import { judgeAnswer } from "./answer/answer.ts";
import { ask } from "./ask.ts";
import { addLedgers, emptyLedger, reservation } from "./budget.ts";
import { compact } from "./compact.ts";
import type { Log } from "./log.ts";
import { next } from "./next.ts";
import { hearRepository } from "./repository.ts";
import { runCalls } from "./run.ts";
import { type Dependencies, type Drive, elsewhere, releaseAll, type StopReason } from "./running.ts";
import type { ThreadState } from "./state.ts";
import { abandonTurn } from "./turn.ts";
import { endBudget, wrapUp } from "./wrap-up.ts";

export async function drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<ThreadState> {
  const run: Drive = { ...dependencies, log, signal, reservations: dependencies.reservations ?? new Map() };
  if (log.state.turn && !signal.aborted) {
    await run.family?.takeUp(run);
    await run.hooks?.begin(run);
  }
  for (;;) {
    await hearSteering(run);
    const step = next(log.state, elsewhere(run));
    if (step.do === "rest") return log.state;
    if (signal.aborted) {
      await stop(run);
      continue;
    }
    switch (step.do) {
      case "ask":
        await withReservation(run, async () => {
          if ((await hearRepository(run)) === "nothing new") await ask(run);
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
      case "end-spent":
        await endBudget(step.spent, run);
        break;
      case "halt":
        await releaseAll(run);
        await log.write(
          ...abandonTurn(log.state, { status: "failed", code: "hook", message: step.message, hook: step.hook }),
        );
        break;
    }
  }
}

/** Processes kept for the model live as long as the turn. */
async function end(message: string | null, run: Drive): Promise<void> {
  const { log, answer, hooks } = run;
  const verdict = await judgeAnswer(message, log.state, answer);
  if (verdict.kind === "repair") return log.write(...verdict.records);
  if (verdict.end.status === "completed" && hooks && !(await hooks.mayEnd(verdict.end.message, run))) return;
  if (log.state.sessions.size > 0) await releaseAll(run);
  await log.write({ type: "turn.ended", turnId: log.state.turn?.turnId ?? "", end: verdict.end });
}

async function stop(run: Drive): Promise<void> {
  const { log, signal } = run;
  await releaseAll(run);
  await log.write(...abandonTurn(log.state, stopReason(signal)));
}

/** Never between a call and its result: some providers refuse a conversation of that shape. */
async function hearSteering({ log, steering, signal }: Drive): Promise<void> {
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

/** Taken before anything is awaited, so that two threads cannot both be admitted to what is left. */
async function withReservation(run: Drive, spend: () => Promise<void>): Promise<void> {
  const { log, reservations, signal } = run;
  const { threadId, seq, turn, tokens } = log.state;
  const ledger = turn?.ledger ?? emptyLedger();
  const before = ledger.turns;
  const expected = { ...emptyLedger(), ...reservation(addLedgers(ledger, elsewhere(run)), tokens), turns: 1 };
  reservations.set(threadId, expected);
  try {
    await spend();
  } finally {
    reservations.delete(threadId);
    // Sent and stopped in the middle: nobody knows what it cost, so it is not free for those that go on.
    if (signal.aborted && ledger.turns === before) reservations.set(`${threadId} at ${seq}`, expected);
  }
}
