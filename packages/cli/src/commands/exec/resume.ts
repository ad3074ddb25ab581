// `agentcli exec resume`: continues the same thread, with a follow-up or with the turn that was cut off.
import { isDeepStrictEqual } from "node:util";
import { CommandError } from "@agentcli/command-line";
import { abandonTurn, type Log, readThread, type StoredRecord, type ThreadState } from "@agentcli/engine";
import {
  callbacksFor,
  type FollowUp,
  followUpRecord,
  joinServers,
  type Run,
  type RunOptions,
  recordedIn,
  sandboxNote,
  withRecordedReview,
} from "@agentcli/host";
import { type FileStore, newId, openFileStore } from "@agentcli/host/sessions";
import type { Part, Tags, ThreadRecord } from "@agentcli/protocol";
import type { Invocation } from "../../command.ts";
import { runOptions } from "../../config/run-options.ts";
import { promptCleaner } from "../../exec/clean-prompt.ts";
import { execute } from "../../exec/execute.ts";
import { promptInput, readImages } from "../../exec/images.ts";
import { hasNoInput, readFollowUp } from "../../exec/prompt-input.ts";
import { openRun, type ProgramRun } from "../../exec/run.ts";
import type { Worktree } from "../../exec/worktree.ts";
import type { Program } from "../../program.ts";
import { findThread, type Session } from "../../sessions/find.ts";
import { tagsOf } from "../../sessions/tags.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { session, prompt } = readArguments(invocation);
  const { environment, reporter } = program;
  const { agentHome: home, cwd } = environment;
  const threadId = findThread(session, { home, cwd, warn: reporter.log });
  const store = openFileStore(environment.agentHome);
  try {
    store.claim(threadId);
    const { log: warn } = reporter;
    const clean = await promptCleaner(invocation.has("sanitize"), warn);
    const readPrompt = ({ stdinLimitMs }: Run) =>
      readFollowUp({ argument: prompt, stdinLimitMs, warn, clean, signal: program.signal });
    const thread = await readSound(store, threadId);
    const options = runOptions(invocation);
    if (prompt === null && !thread.state.turn && hasNoInput())
      throw needsPrompt(options) ? promptMissing() : nothingToContinue(threadId);
    return await continueThread({ ...thread, store, readPrompt }, options, program);
  } finally {
    store.close();
  }
}

/** A loaded thread, ready to continue. */
export interface LoadedThread {
  state: ThreadState;
  records: StoredRecord[];
  store: FileStore;
  /** Null: the interrupted turn continues. */
  readPrompt(run: Run): Promise<string | null>;
  /** Called right before the first record is added. */
  begin?(): void;
}

export async function continueThread(thread: LoadedThread, options: RunOptions, program: Program): Promise<number> {
  const { state, records, store, readPrompt, begin } = thread;
  for (const stored of stillShowing(records)) program.reporter.recall(stored);
  const images = readImages(options.images, program.environment.cwd);
  const worktree = await recordedWorktree(thread, options, program);
  try {
    const run = await openRun(options, program, {
      store,
      recorded: recordedIn(state),
      callbacks: callbacksFor(program.reporter),
    });
    try {
      const followUp = followUpOf(await readPrompt(run), images, options.tags, records);
      await joinServers(run, program.signal);
      begin?.();
      const log = await resumeTurn(state, followUp, run);
      return await execute(log, await withRecordedReview(log.state, run));
    } finally {
      await run.close();
    }
  } finally {
    await worktree?.settle();
  }
}

/** A thread with its own working tree continues there. */
async function recordedWorktree(
  { records }: LoadedThread,
  options: RunOptions,
  program: Program,
): Promise<Worktree | null> {
  const created = records[0]?.record;
  if (created?.type !== "thread.created" || !created.worktree || options.directory !== undefined) return null;
  const { reopenWorktree } = await import("../../exec/worktree.ts");
  return reopenWorktree(created.worktree, { environment: program.environment, log: program.reporter.log });
}

function followUpOf(prompt: string | null, images: Part[], tags: Tags, records: StoredRecord[]): FollowUp | null {
  if (prompt !== null) {
    const input = promptInput(images, prompt);
    return { turnId: newId(Date.now()), input, tags: { ...tagsOf(records), ...tags } };
  }
  if (needsPrompt({ images, tags })) throw promptMissing();
  return null;
}

const needsPrompt = ({ images, tags }: { images: unknown[]; tags: Tags }) =>
  images.length > 0 || Object.keys(tags).length > 0;

const promptMissing = (): CommandError =>
  new CommandError("usage", "--image and --tag require a prompt. Pass it after the session id.");

/** With --last the single positional is the prompt. */
function readArguments({ positionals, has }: Invocation): { session: Session; prompt: string | null } {
  const [first, second] = positionals;
  if (has("last")) {
    if (second !== undefined)
      throw new CommandError("usage", "With --last only a prompt follows; leave out the session id.");
    return { session: { by: "last", anywhere: has("all") }, prompt: first ?? null };
  }
  if (first === undefined)
    throw new CommandError(
      "usage",
      "No session given. Pass its id or name, or --last for the newest of this directory.",
    );
  return { session: { by: "id", id: first }, prompt: second ?? null };
}

/** A record that is JSON but not what it should be shows only in the fold. */
async function readSound(store: FileStore, threadId: string): ReturnType<typeof readThread> {
  const thread = await foldSound(store, threadId);
  if (thread.records[0]?.record.type === "thread.created") return thread;
  throw new CommandError(
    "usage",
    `Session ${threadId} is empty or damaged: its first record is missing. Remove it: agentcli sessions delete ${threadId}`,
  );
}

async function foldSound(store: FileStore, threadId: string): ReturnType<typeof readThread> {
  try {
    return await readThread(store, threadId);
  } catch (error) {
    throw (await store.findDamage(threadId)) ?? error;
  }
}

/** What the surfaces must know of the past: which thread it is, and the turn that is still open. */
function stillShowing(records: StoredRecord[]): StoredRecord[] {
  const begun = records.findLastIndex(({ record }) => record.type === "turn.begun");
  const ended = records.findLastIndex(({ record }) => record.type === "turn.ended");
  return [...records.slice(0, 1), ...(begun > ended ? records.slice(begun) : [])];
}

async function resumeTurn(state: ThreadState, followUp: FollowUp | null, run: ProgramRun): Promise<Log> {
  if (followUp === null && !state.turn) throw nothingToContinue(state.threadId);
  if (followUp !== null) {
    // The cut-off turn belongs to the past: it is closed in the log, not shown as part of this run.
    const past = run.openLog(state, run.program.reporter.recall);
    await past.write(
      ...abandonTurn(state, { status: "cancelled", reason: "The run was interrupted and a new prompt was given." }),
    );
  }
  const log = run.openLog(state, run.program.reporter.show);
  const noted = followUp ? [await followUpRecord(followUp, state, run)] : policyNote(state, run);
  await log.write(sandboxNote(run), ...noted);
  return log;
}

const nothingToContinue = (threadId: string): CommandError =>
  new CommandError(
    "usage",
    `Session ${threadId} has no turn to continue. Give a prompt: agentcli exec resume ${threadId} "…"`,
  );

/** Records if the continued turn runs under another policy than before. */
function policyNote({ settings: before }: ThreadState, { settings }: Run): ThreadRecord[] {
  const isSame = isDeepStrictEqual(withoutGaps(before), withoutGaps(settings));
  return isSame ? [] : [{ type: "noted", kind: "policy", data: { settings } }];
}

/** As read back from a session file: undefined members are absent. */
const withoutGaps = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
