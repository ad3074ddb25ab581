// `agentcli exec fork`: a new thread that begins with the history of another.
import { CommandError } from "@agentcli/command-line";
import { readThread, type StoredRecord } from "@agentcli/engine";
import { forkRecords } from "@agentcli/host/session-files";
import { newId, openFileStore, openMemoryStore } from "@agentcli/host/sessions";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { runOptions } from "../../config/run-options.ts";
import { promptCleaner } from "../../exec/clean-prompt.ts";
import { readFollowUp } from "../../exec/prompt-input.ts";
import type { Program } from "../../program.ts";
import { openSession } from "../../sessions/open.ts";
import { continueThread } from "./resume.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [source, argument = null] = invocation.positionals;
  const [, reference = source, item] = /^(.+)@(item_\d+)$/.exec(source ?? "") ?? [];
  const { agentHome } = program.environment;
  const options = runOptions(invocation);
  const threadId = newId(Date.now());
  const { records: past } = openSession(reference, agentHome);
  const lastSeq = item === undefined ? undefined : await seqOf(past, item);
  const records = forkRecords(past, { threadId, lastSeq });
  const { log: warn } = program.reporter;
  const clean = await promptCleaner(invocation.has("sanitize"), warn);
  const prompt = await readFollowUp({ argument, stdinLimitMs, warn, clean, signal: program.signal });
  if (prompt === null) return onlyFork(records, threadId, invocation, program);
  const store = options.ephemeral ? openMemoryStore() : openFileStore(agentHome);
  try {
    // Written only when the run can begin: a missing credential leaves no fork behind.
    const begin = () => store.begin(threadId, records);
    return await continueThread(
      { ...(await fold(records, threadId)), store, readPrompt: async () => prompt, begin },
      options,
      program,
    );
  } finally {
    store.close();
  }
}

/** Loaded only where the fork begins at an item. */
const seqOf = async (records: StoredRecord[], item: string): Promise<number> =>
  (await import("../../sessions/items.ts")).seqOfItem(records, item);

/** How long a pipe may stay silent where a prompt is welcome and not needed. */
const stdinLimitMs = 1_000;

async function fold(records: StoredRecord[], threadId: string): ReturnType<typeof readThread> {
  const memory = openMemoryStore();
  memory.begin(threadId, records);
  return readThread(memory, threadId);
}

async function onlyFork(
  records: StoredRecord[],
  threadId: string,
  invocation: Invocation,
  { environment, reporter, print }: Program,
): Promise<number> {
  const { images, tags, outputFile, ephemeral } = runOptions(invocation);
  if (images.length > 0 || Object.keys(tags).length > 0 || outputFile !== undefined || ephemeral) {
    throw new CommandError("usage", "--image, --tag, -o and --ephemeral need a prompt: agentcli exec fork ID PROMPT.");
  }
  const store = openFileStore(environment.agentHome);
  try {
    store.begin(threadId, records);
  } finally {
    store.close();
  }
  const sandbox = records.findLast(({ record }) => record.type === "noted" && record.kind === "sandbox");
  for (const stored of records.slice(0, 1)) reporter.recall(stored);
  if (sandbox) await reporter.show(sandbox);
  if (!invocation.has("json")) await print(`${threadId}\n`);
  return exitCodes.completed.code;
}
