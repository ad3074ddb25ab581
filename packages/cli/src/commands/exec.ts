// `agentcli exec`: one prompt, one turn, one final message.
import type { Part } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { carryOut } from "../carry-out.ts";
import { promptInput, readImages } from "../images.ts";
import { joinServers } from "../mcp/join.ts";
import type { Program } from "../program.ts";
import { readPrompt } from "../prompt-input.ts";
import { alone, openRun } from "../run.ts";
import { type RunOptions, runOptions } from "../run-options.ts";
import { type FileStore, openStore } from "../sessions/store.ts";
import { newId } from "../sessions/thread-id.ts";
import { type NewThread, startThread } from "../thread.ts";

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

interface Start extends NewThread {
  /** The prompt as an argument. */
  argument: string | null;
}

async function execute(options: RunOptions, start: Start, program: Program): Promise<number> {
  const images = readImages(options.images, program.environment.cwd);
  const store = openStore(options, program.environment.agentHome);
  try {
    return await begin({ options, start, images }, program, store);
  } finally {
    store.close();
  }
}

interface Beginning {
  options: RunOptions;
  start: Start;
  images: Part[];
}

async function begin({ options, start, images }: Beginning, program: Program, store: FileStore): Promise<number> {
  const run = await openRun(options, program, { store, recorded: null, company: alone });
  try {
    const { signal, reporter } = program;
    const warn = (message: string) => void run.warnings.push(message);
    const { say } = reporter;
    const text = await readPrompt({ argument: start.argument, stdinLimitMs: run.limits.stdinMs, say, warn, signal });
    await joinServers(run);
    const { messages: context, warnings } = run.context.forPrompt(text);
    run.warnings.push(...warnings);
    const opening = { input: promptInput(images, text), ...(context.length > 0 && { context }) };
    return await carryOut(await startThread(opening, run, start), run);
  } finally {
    await run.close();
  }
}
