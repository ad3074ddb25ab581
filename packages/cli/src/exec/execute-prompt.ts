// The first turn of a new thread, from its prompt to its end.
import { textOf } from "@agentcli/engine";
import { joinServers, type NewThread } from "@agentcli/host";
import type { Part } from "@agentcli/protocol";
import { execute } from "./execute.ts";
import type { ProgramRun } from "./run.ts";
import { startThread } from "./start-thread.ts";

/** Answers with the exit code. */
export async function executePrompt(
  input: Part[],
  run: ProgramRun,
  thread: Pick<NewThread, "threadId" | "worktree">,
): Promise<number> {
  await joinServers(run, run.program.signal);
  const { messages: context, warnings } = await run.context.forPrompt(textOf(input));
  run.warnings.push(...warnings);
  return execute(await startThread({ input, ...(context.length > 0 && { context }) }, run, thread), run);
}
