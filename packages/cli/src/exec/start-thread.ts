// A new thread with its first turn, written before the model is asked.
import { emptyThread, type Log } from "@agentcli/engine";
import { firstRecords, type NewThread, type Opening } from "@agentcli/host";
import { newId } from "@agentcli/host/sessions";
import type { ProgramRun } from "./run.ts";

export async function startThread(
  opening: Opening,
  run: ProgramRun,
  { threadId, worktree }: Pick<NewThread, "threadId" | "worktree"> = { threadId: newId(Date.now()) },
): Promise<Log> {
  const log = run.openLog(emptyThread(threadId), run.program.reporter.show);
  const thread = { threadId, worktree, tags: run.options.tags, version: run.program.version };
  await log.write(...firstRecords({ turnId: newId(Date.now()), ...opening }, run, thread));
  return log;
}
