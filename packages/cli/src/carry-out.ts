// Takes a turn to its end, whatever happens in the middle, and says with which exit code a program ends that ends with it.
import { writeFileSync } from "node:fs";
import { abandonTurn, drive, type Log, lastTurn } from "@agentcli/engine";
import type { ThreadRecord, TurnEnd } from "@agentcli/protocol";
import { exitCodes, exitOf } from "@agentcli/protocol/exit-codes";
import type { Run, TimedEnd } from "./run.ts";

/** Drives the last turn of this program and answers with the exit code. */
export async function carryOut(given: Log, run: Run): Promise<number> {
  const { reporter, signal } = run.program;
  const end = await withLimits(run, signal, async (limited) => {
    const log = lastTurn(given, run.dependencies, { signal: limited, patienceMs: hookPatienceMs });
    await log.write(...newsOf(run));
    return driveToEnd(log, run, limited);
  });
  if (end.status === "failed" && end.code === "budget") {
    const { keepPartialPatch } = await import("./partial-patch.ts");
    await keepPartialPatch(given.state, run);
  }
  if (end.status === "completed") {
    if (run.options.outputFile) keepMessage(run.options.outputFile, end.message, reporter.say);
    await reporter.finish(end.message);
  }
  return exitCode(end);
}

const hookPatienceMs = 3_000;

/** What the run has to say, each thing once. */
export const newsOf = (run: Run): ThreadRecord[] => [
  ...run.notes.splice(0),
  ...run.warnings.splice(0).map(warningNote),
];

const warningNote = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });

/** A turn that was shown to begin is shown to end. */
export async function driveToEnd(log: Log, run: Run, signal: AbortSignal): Promise<TurnEnd> {
  try {
    const { end } = await drive(log, run.dependencies, signal);
    if (end) return end;
    throw new Error(`thread ${log.state.threadId} rests without an end`);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    const end: TurnEnd = { status: "failed", code: name === "SandboxUnavailable" ? "sandbox" : "internal", message };
    await closeTurn(log, end, run);
    return end;
  }
}

async function closeTurn(log: Log, end: Exclude<TurnEnd, { status: "completed" }>, run: Run): Promise<void> {
  const records = abandonTurn(log.state, end);
  try {
    await log.write(...records);
  } catch {
    // The session cannot be written (a full disk, another writer): the turn stays open there and can be resumed.
    const at = new Date().toISOString();
    for (const record of records) await run.program.reporter.show({ seq: log.state.seq, at, record });
  }
}

/** Under a signal that also aborts when one of the run's limits is reached. */
export async function withLimits<Result>(
  { limits }: Pick<Run, "limits">,
  signal: AbortSignal,
  act: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const timers = limits.ends.flatMap((end) => startTimer(end, stop));
  const pass = () => stop.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener("abort", pass, { once: true });
  try {
    return await act(stop.signal);
  } finally {
    signal.removeEventListener("abort", pass);
    for (const timer of timers) clearTimeout(timer);
  }
}

function startTimer({ afterMs, code, limit }: TimedEnd, stop: AbortController): NodeJS.Timeout[] {
  if (afterMs === null) return [];
  const message = `The run reached its ${limit} ${code} of ${afterMs} ms.`;
  return [setTimeout(() => stop.abort({ end: { status: "failed", code, message, limit } }), afterMs).unref()];
}

function exitCode(end: TurnEnd): number {
  if (end.status === "completed") return exitCodes.completed.code;
  if (end.status === "failed" && end.code === "hook" && end.hook !== "managed") return exitCodes.failed.code;
  return exitCodes[end.status === "failed" ? exitOf[end.code] : "failed"].code;
}

/** The message is on standard output as well: a file that cannot be written is a pity, not a failure of the run. */
export function keepMessage(path: string, message: string, say: (line: string) => void): void {
  try {
    writeFileSync(path, message);
  } catch (error) {
    say(`warning: the final message could not be written to ${path}: ${(error as Error).message}`);
  }
}
