// `agentcli exec`: one prompt, one turn, one final message.
import { callbacksFor, type NewThread, type RunOptions } from "@agentcli/host";
import { type FileStore, newId, openStore } from "@agentcli/host/sessions";
import type { Part } from "@agentcli/protocol";
import type { Invocation } from "../../command.ts";
import { runOptions } from "../../config/run-options.ts";
import { promptCleaner } from "../../exec/clean-prompt.ts";
import { executePrompt } from "../../exec/execute-prompt.ts";
import { promptInput, readImages } from "../../exec/images.ts";
import { addPipedContext, readPipedPrompt } from "../../exec/prompt-input.ts";
import { openRun } from "../../exec/run.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const options = runOptions(invocation);
  const start = { threadId: newId(Date.now()), argument: invocation.positionals[0] ?? null };
  if (!invocation.has("worktree")) return runIn(options, start, program);
  const { openWorktree } = await import("../../exec/worktree.ts");
  const { environment, reporter } = program;
  const worktreeOptions = {
    directory: options.directory ?? ".",
    threadId: start.threadId,
    environment,
    log: reporter.log,
  };
  const worktree = await openWorktree(worktreeOptions);
  try {
    return await runIn({ ...options, directory: worktree.cwd }, { ...start, worktree: worktree.origin }, program);
  } finally {
    await worktree.settle();
  }
}

interface Start extends Pick<NewThread, "threadId" | "worktree"> {
  /** The prompt as an argument. */
  argument: string | null;
}

async function runIn(options: RunOptions, start: Start, program: Program): Promise<number> {
  const images = readImages(options.images, program.environment.cwd);
  const store = openStore(options, program.environment.agentHome);
  try {
    return await begin({ options, start, images }, program, store);
  } finally {
    store.close();
  }
}

interface FirstTurn {
  options: RunOptions;
  start: Start;
  images: Part[];
}

async function begin({ options, start, images }: FirstTurn, program: Program, store: FileStore): Promise<number> {
  const { signal, reporter } = program;
  const { argument } = start;
  const { log } = reporter;
  const clean = await promptCleaner(options.sanitize === true, (message) => log(`warning: ${message}`));
  const piped = await readPipedPrompt({ argument, log, warn: log, clean, signal });
  const run = await openRun(options, program, { store, recorded: null, callbacks: callbacksFor(reporter) });
  try {
    const warn = (message: string) => void run.warnings.push(message);
    const { stdinLimitMs } = run;
    const text = piped ?? (await addPipedContext(argument ?? "", { stdinLimitMs, warn, clean, signal }));
    return await executePrompt(promptInput(images, text), run, start);
  } finally {
    await run.close();
  }
}
