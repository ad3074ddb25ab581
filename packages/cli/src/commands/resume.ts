// `agentcli exec resume`: the same thread goes on, with a follow-up or with the turn that was cut off.
import { isDeepStrictEqual } from "node:util";
import { abandonTurn, type Log, readThread, type StoredRecord, type ThreadState } from "@agentcli/engine";
import type { Part, Tags, ThreadRecord } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { carryOut } from "../carry-out.ts";
import { asBegun, type FollowUp, followUpRecord, recordedIn } from "../follow-up.ts";
import { promptInput, readImages } from "../images.ts";
import { joinServers } from "../mcp/join.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { readFollowUp } from "../prompt-input.ts";
import { alone, openRun, type Run } from "../run.ts";
import { type RunOptions, runOptions } from "../run-options.ts";
import { findThread, type Session } from "../sessions/find.ts";
import { type FileStore, openFileStore } from "../sessions/store.ts";
import { tagsOf } from "../sessions/tags.ts";
import { newId } from "../sessions/thread-id.ts";
import type { Worktree } from "../worktree.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { session, prompt } = readArguments(invocation);
  const { environment, reporter } = program;
  const threadId = findThread(session, environment.agentHome, environment.cwd);
  const store = openFileStore(environment.agentHome);
  try {
    store.claim(threadId);
    const readPrompt = ({ limits }: Run) =>
      readFollowUp({ argument: prompt, stdinLimitMs: limits.stdinMs, warn: reporter.say, signal: program.signal });
    return await goOn({ ...(await readSound(store, threadId)), store }, readPrompt, runOptions(invocation), program);
  } finally {
    store.close();
  }
}

/** A thread that has been read, ready to go on. */
export interface Known {
  state: ThreadState;
  records: StoredRecord[];
  store: FileStore;
  /** Called right before the first record is added. */
  begin?(): void;
}

export async function goOn(
  known: Known,
  readPrompt: (run: Run) => Promise<string | null>,
  options: RunOptions,
  program: Program,
): Promise<number> {
  const { state, records, store, begin } = known;
  for (const stored of stillShowing(records)) program.reporter.recall(stored);
  const images = readImages(options.images, program.environment.cwd);
  const worktree = await recordedWorktree(known, options, program);
  try {
    const run = await openRun(options, program, { store, recorded: recordedIn(state), company: alone });
    try {
      const followUp = followUpOf(await readPrompt(run), images, options.tags, records);
      await joinServers(run);
      begin?.();
      const log = await takeUp(state, followUp, run);
      return await carryOut(log, await asBegun(log.state, run));
    } finally {
      await run.close();
    }
  } finally {
    await worktree?.settle();
  }
}

/** A thread that worked in a tree of its own goes on there. */
async function recordedWorktree({ records }: Known, options: RunOptions, program: Program): Promise<Worktree | null> {
  const created = records[0]?.record;
  if (created?.type !== "thread.created" || !created.worktree || options.directory !== undefined) return null;
  const { reopenWorktree } = await import("../worktree.ts");
  return reopenWorktree(created.worktree, { environment: program.environment, say: program.reporter.say });
}

function followUpOf(prompt: string | null, images: Part[], tags: Tags, records: StoredRecord[]): FollowUp | null {
  if (prompt !== null) {
    const input = promptInput(images, prompt);
    return { turnId: newId(Date.now()), input, tags: { ...tagsOf(records), ...tags } };
  }
  if (images.length === 0 && Object.keys(tags).length === 0) return null;
  throw new Problem("usage", "--image and --tag belong to a prompt, and there is none. Give one behind the session.");
}

/** With --last the single positional is the prompt. */
function readArguments({ positionals, has }: Invocation): { session: Session; prompt: string | null } {
  const [first, second] = positionals;
  if (has("last")) {
    if (second !== undefined)
      throw new Problem("usage", "With --last only a prompt follows; leave out the session id.");
    return { session: { by: "last", anywhere: has("all") }, prompt: first ?? null };
  }
  if (first === undefined)
    throw new Problem("usage", "Which session? Give its id or name, or --last for the newest of this directory.");
  return { session: { by: "id", id: first }, prompt: second ?? null };
}

/** A record that is JSON but not what it should be shows only in the fold. */
async function readSound(store: FileStore, threadId: string): ReturnType<typeof readThread> {
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

async function takeUp(state: ThreadState, followUp: FollowUp | null, run: Run): Promise<Log> {
  if (followUp === null && !state.turn) {
    throw new Problem(
      "usage",
      `Session ${state.threadId} has no turn to go on with. Give a prompt: agentcli exec resume ${state.threadId} "…"`,
    );
  }
  if (followUp !== null) {
    // The cut-off turn belongs to the past: it is closed in the log, not shown as part of this run.
    const past = run.openLog(state, run.program.reporter.recall);
    await past.write(
      ...abandonTurn(state, { status: "cancelled", reason: "The run was interrupted and a new prompt was given." }),
    );
  }
  const log = run.openLog(state, run.program.reporter.show);
  await log.write(
    { type: "noted", kind: "sandbox", data: { ...run.sandbox } },
    ...(followUp ? [followUpRecord(followUp, state, run)] : policyNote(state, run)),
  );
  return log;
}

/** A turn that goes on says so where it is under another policy than before. */
function policyNote({ settings: before }: ThreadState, { settings }: Run): ThreadRecord[] {
  const isSame = isDeepStrictEqual(withoutGaps(before), withoutGaps(settings));
  return isSame ? [] : [{ type: "noted", kind: "policy", data: { settings } }];
}

/** As it comes back from a session file: what is undefined is not there. */
const withoutGaps = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
