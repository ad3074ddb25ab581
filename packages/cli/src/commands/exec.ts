// `agentcli exec`: one prompt, one turn, one final message.
import { emptyThread, freeze } from "@agentcli/engine";
import type { Part, WorktreeOrigin } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { promptInput, readImages } from "../images.ts";
import type { Program } from "../program.ts";
import { readPrompt } from "../prompt-input.ts";
import { carryOut, openRun, type Run } from "../run.ts";
import { type RunOptions, runOptions } from "../run-options.ts";
import { recordedTags } from "../sessions/tags.ts";
import { newId } from "../sessions/thread-id.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const options = runOptions(invocation);
  const start = { threadId: newId(Date.now()), argument: invocation.positionals[0] ?? null };
  if (!invocation.has("worktree")) return execute(options, start, program);
  const { openWorktree } = await import("../worktree.ts");
  const { environment, reporter } = program;
  const wish = { directory: options.directory ?? ".", threadId: start.threadId, environment, say: reporter.say };
  const worktree = await openWorktree(wish);
  try {
    return await execute({ ...options, directory: worktree.cwd }, { ...start, worktree: worktree.origin }, program);
  } finally {
    await worktree.settle();
  }
}

interface Start {
  threadId: string;
  /** The prompt as an argument. */
  argument: string | null;
  worktree?: WorktreeOrigin;
}

async function execute(options: RunOptions, start: Start, program: Program): Promise<number> {
  const images = readImages(options.images, program.environment.cwd);
  const run = await openRun(options, program, null);
  try {
    const { say } = program.reporter;
    const warn = (message: string) => void run.warnings.push(message);
    const text = await readPrompt({ argument: start.argument, stdinLimitMs: run.limits.stdinMs, say, warn });
    return await carryOut(await startThread(promptInput(images, text), start, run), run);
  } finally {
    await run.close();
  }
}

async function startThread(input: Part[], { threadId, worktree }: Start, run: Run) {
  const { settings, surroundings, tools, traits, sandbox } = run;
  const tags = recordedTags(run.options.tags);
  const log = run.openLog(emptyThread(threadId), run.program.reporter.show);
  await log.write(
    {
      type: "thread.created",
      threadId,
      ...(worktree && { worktree }),
      ...tags,
      frozen: freeze(settings, surroundings, tools, traits),
      settings,
      program: { name: "agentcli", version: run.program.version },
    },
    { type: "noted", kind: "sandbox", data: { ...sandbox } },
    { type: "turn.begun", turnId: newId(Date.now()), input, settings, ...tags },
  );
  return log;
}
