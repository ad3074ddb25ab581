// Takes the turn of a run to its end and turns that end into the exit code of the program.
import type { Log } from "@agentcli/engine";
import { asLastTurn, driveToEnd, endHookTimeoutMs, takeNotes, withLimits } from "@agentcli/host";
import type { TurnEnd } from "@agentcli/protocol";
import { exitCodes, exitOf } from "@agentcli/protocol/exit-codes";
import type { ProgramRun } from "./run.ts";

/** Drives the last turn of this program and answers with the exit code. */
export async function execute(log: Log, run: ProgramRun): Promise<number> {
  const { reporter, signal } = run.program;
  const turn = openTurnOf(log, run);
  const end = await withLimits(run.timeLimits, signal, async (limited) => {
    const last = asLastTurn(log, run, { signal: limited, hookTimeoutMs: endHookTimeoutMs.program });
    await last.write(...takeNotes(run));
    return driveToEnd(last, run, { signal: limited, show: reporter.show });
  });
  if (end.status === "failed" && end.code === "budget") {
    const { keepPartialPatch } = await import("./partial-patch.ts");
    await keepPartialPatch(log.state, run);
  }
  if (end.status === "completed") {
    const { outputFile } = run.options;
    if (outputFile) (await import("./output-file.ts")).keepMessage(outputFile, end.message, run.program);
    await reporter.finish(end.message);
    await run.notify?.({ ...turn, message: end.message });
  }
  return exitCode(end);
}

const openTurnOf = ({ state }: Log, { settings }: ProgramRun) => ({
  threadId: state.threadId,
  turnId: state.turn?.turnId ?? "",
  cwd: settings.cwd,
  prompt: state.turn?.prompt ?? "",
});

export function exitCode(end: TurnEnd): number {
  if (end.status === "completed") return exitCodes.completed.code;
  if (end.status === "failed" && end.code === "hook" && end.hook !== "managed") return exitCodes.failed.code;
  return exitCodes[end.status === "failed" ? exitOf[end.code] : "failed"].code;
}
