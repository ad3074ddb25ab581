// Runs a thread until its turn ends. Start, follow-up, resume and crash recovery are this same call.
// Steps that a simple answer does not need are imported on first use, so that it starts fast.

import { CommitLost } from "@agentcli/protocol/workspace-errors";
import { type AbnormalEnd, abandonTurn } from "./abandon-turn.ts";
import { checkFinalMessage } from "./answer/answer.ts";
import { addLedgers, emptyLedger, estimateNextRequest } from "./budget/ledger.ts";
import type { Log } from "./log/log.ts";
import { nextStep } from "./next.ts";
import type { Model } from "./ports.ts";
import { injectInstructions } from "./prompt/repository.ts";
import { ask } from "./requests/ask.ts";
import {
  type Dependencies,
  endProcesses,
  type StopReason,
  spentByOtherAgents,
  type ThreadRun,
  withSubagentCharges,
} from "./running.ts";
import { maxCallsWithoutProgress } from "./state/call-streak.ts";
import type { ThreadState } from "./state/state.ts";

export async function drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<ThreadState> {
  const logWithCharges: Log = {
    // The one object that `write` updates in place.
    state: log.state,
    write: (...records) => log.write(...withSubagentCharges(records, dependencies.subagents)),
  };
  const reservations = dependencies.reservations ?? new Map();
  const run: ThreadRun = { ...dependencies, log: logWithCharges, signal, reservations };
  if (log.state.turn && !signal.aborted) {
    await run.subagents?.resume(run);
    await run.hooks?.begin(run);
  }
  for (;;) {
    await applySteering(run);
    const step = nextStep(log.state, spentByOtherAgents(run));
    if (step.kind === "idle") return log.state;
    if (signal.aborted) {
      await stopTurn(run, endOnAbort(signal));
      continue;
    }
    switch (step.kind) {
      case "request-model":
        await withReservation(run, async (reserved) => {
          // If instructions were added, loop again: the next pass sends the request.
          if ((await injectInstructions(reserved)) === "none") await ask(reserved);
        });
        break;
      case "run-calls":
        await (await import("./calls/run-calls.ts")).runCalls(step.calls, run);
        break;
      case "compact":
        await withReservation(run, async (reserved) => (await import("./requests/compact.ts")).compact(reserved));
        break;
      // Sends one last request without tools for the model to sum up what was done.
      case "wrap-up":
        await (await import("./requests/wrap-up.ts")).wrapUp(step.exhaustedLimit, run);
        break;
      case "end":
        await end(step.message, run);
        break;
      // The summary is written: ends the turn as failed.
      case "end-over-budget":
        await (await import("./requests/wrap-up.ts")).endOverBudget(step.exhaustedLimit, run);
        break;
      case "end-without-progress":
        await stopTurn(run, { status: "failed", code: "no_progress", message: noProgress });
        break;
      case "stop-by-hook":
        await stopTurn(run, { status: "failed", code: "hook", message: step.message, hook: step.hook });
        break;
    }
  }
}

/**
 * Ends the turn, and with it the background processes that the model left running. The turn continues instead if the final
 * message must be corrected, or if a hook objects.
 */
async function end(message: string | null, run: ThreadRun): Promise<void> {
  const { log, finalMessageCheck, hooks } = run;
  const result = await checkFinalMessage(message, log.state, finalMessageCheck);
  if (result.kind === "correct") return log.write(...result.records);
  if (result.end.status === "completed" && hooks && !(await hooks.mayEnd(result.end.message, run))) return;
  const unfinished = run.subagents?.overview().filter(({ status }) => status === "running") ?? [];
  if (unfinished.length > 0) await (await import("./subagents/unfinished.ts")).warnOfUnfinished(unfinished, log);
  const failure = log.state.backgroundProcesses.size > 0 ? await endBackgroundProcesses(run) : null;
  await log.write({ type: "turn.ended", turnId: log.state.turn?.turnId ?? "", end: failure ?? result.end });
}

/**
 * Returns a failed end if a commit made in the sandbox could not be imported into the repository, otherwise null.
 * Releasing a workspace imports such commits.
 */
async function endBackgroundProcesses(run: ThreadRun): Promise<AbnormalEnd | null> {
  try {
    await endProcesses(run);
    return null;
  } catch (error) {
    if (!(error instanceof CommitLost)) throw error;
    return { status: "failed", code: "sandbox", message: error.message };
  }
}

const noProgress = `The last ${maxCallsWithoutProgress} tool calls were rejected or repeated the call before, so the turn was ended. The work so far is kept; resume with a prompt that says what to do differently.`;

/** Ends the turn, its open calls and its processes. The work so far is kept. */
async function stopTurn(run: ThreadRun, end: AbnormalEnd): Promise<void> {
  const failure = await endBackgroundProcesses(run);
  await run.log.write(...abandonTurn(run.log.state, failure ?? end));
}

/**
 * Adds input that users sent during the turn; `steering` returns each input once. Never between a call and its result: some
 * providers reject such a conversation.
 */
async function applySteering({ log, steering, signal }: ThreadRun): Promise<void> {
  if (!steering || signal.aborted || !log.state.turn || log.state.turn.calls.length > 0) return;
  for (const { input, clientId } of await steering()) {
    await log.write({ type: "input.added", origin: "user", input, ...(clientId !== undefined && { clientId }) });
  }
}

/** How the turn ends when the signal is aborted: as `signal.reason` says if it is a StopReason, otherwise it was interrupted. */
function endOnAbort(signal: AbortSignal): AbnormalEnd {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "end" in reason) return (reason as StopReason).end;
  return { status: "cancelled", reason: "interrupted" };
}

/** Reserves the expected cost synchronously, before the first await, so that two agents of one run cannot both spend the rest of the budget. */
async function withReservation(run: ThreadRun, spend: (run: ThreadRun) => Promise<void>): Promise<void> {
  const { log, reservations } = run;
  const { threadId, seq, turn, tokens } = log.state;
  const ledger = turn?.ledger ?? emptyLedger();
  const requestsBefore = ledger.requests;
  // What others have spent gives the price of a token to an agent without a request of its own.
  const expected = {
    ...emptyLedger(),
    ...estimateNextRequest(addLedgers(ledger, spentByOtherAgents(run)), tokens),
    requests: 1,
  };
  reservations.set(threadId, expected);
  let wasAbortedInFlight = false;
  const model = observeAborts(run.model, () => {
    wasAbortedInFlight = true;
  });
  try {
    await spend({ ...run, model });
  } finally {
    reservations.delete(threadId);
    // Writing a finished request to the log updates this same ledger object. A request that was aborted in flight has an
    // unknown cost: its reservation is never removed, and has a key of its own, so that every thread counts it.
    if (wasAbortedInFlight && ledger.requests === requestsBefore) reservations.set(`${threadId} at ${seq}`, expected);
  }
}

/** Calls `onAbort` for requests that were under way when they were aborted: those may have a cost. */
const observeAborts = (model: Model, onAbort: () => void): Model => ({
  ...model,
  async reply(request, onProgress, signal) {
    const wasStarted = !signal.aborted;
    const reply = await model.reply(request, onProgress, signal);
    if (wasStarted && signal.aborted) onAbort();
    return reply;
  },
});
