// A new thread with its first turn, written down before anything is asked.
import { emptyThread, freeze, type Log } from "@agentcli/engine";
import type { RecordOf, ThreadRecord, WorktreeOrigin } from "@agentcli/protocol";
import type { Run } from "./run.ts";
import { recordedTags } from "./sessions/tags.ts";
import { newId } from "./sessions/thread-id.ts";

/** What the first turn brings besides what the run knows. */
export type Opening = Pick<RecordOf<"turn.begun">, "context" | "input" | "review" | "clientId" | "compaction">;

export interface NewThread {
  threadId: string;
  worktree?: WorktreeOrigin | undefined;
}

export async function startThread(
  opening: Opening,
  run: Run,
  { threadId, worktree }: NewThread = { threadId: newId(Date.now()) },
): Promise<Log> {
  const log = run.openLog(emptyThread(threadId), run.program.reporter.show);
  await log.write(...firstRecords({ turnId: newId(Date.now()), ...opening }, run, { threadId, worktree }));
  return log;
}

export function firstRecords(
  opening: Opening & { turnId: string },
  run: Run,
  { threadId, worktree }: NewThread,
): ThreadRecord[] {
  const { settings, surroundings, tools, traits, sandbox } = run;
  const tags = recordedTags(run.options.tags);
  return [
    {
      type: "thread.created",
      threadId,
      ...(worktree && { worktree }),
      ...tags,
      frozen: {
        ...freeze(settings, surroundings, tools, traits),
        ...(run.hooks.length > 0 && { hooks: run.hooks }),
      },
      settings,
      program: { name: "agentcli", version: run.program.version },
    },
    { type: "noted", kind: "sandbox", data: { ...sandbox } },
    { type: "turn.begun", ...opening, settings, ...tags },
  ];
}
