// `agentcli exec resume`: the same thread goes on, with a follow-up or with the turn that was cut off.
import {
  abandonTurn,
  type Log,
  permissionsMessage,
  readThread,
  type StoredRecord,
  type ThreadState,
} from "@agentcli/engine";
import type { ThreadRecord, ToolSpec, TurnSettings } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { changedTools, joinServers } from "../mcp/join.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { readFollowUp } from "../prompt-input.ts";
import { carryOut, openRun, type Run } from "../run.ts";
import { runOptions } from "../run-options.ts";
import { findThread, type Session } from "../sessions/find.ts";
import { type FileStore, openFileStore } from "../sessions/store.ts";
import { newId } from "../sessions/thread-id.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { session, prompt } = readArguments(invocation);
  const { environment, reporter } = program;
  const threadId = findThread(session, environment.agentHome, environment.cwd);
  const store = openFileStore(environment.agentHome);
  try {
    store.claim(threadId);
    const { state, records } = await readSound(store, threadId);
    for (const stored of stillShowing(records)) reporter.recall(stored);
    const run = await openRun(runOptions(invocation), program, { store, settings: state.settings });
    try {
      const followUp = await readFollowUp({ argument: prompt, stdinLimitMs: run.limits.stdinMs, say: reporter.say });
      const joined = await joinServers(run);
      return await carryOut(await takeUp(state, followUp, joined), joined);
    } finally {
      await run.close();
    }
  } finally {
    store.close();
  }
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
    throw new Problem("usage", "Which session? Give its id, or --last for the newest of this directory.");
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

async function takeUp(state: ThreadState, followUp: string | null, run: Run): Promise<Log> {
  if (followUp === null && !state.turn) {
    throw new Problem(
      "usage",
      `Session ${state.threadId} has no turn to go on with. Give a prompt: agentcli exec resume ${state.threadId} "…"`,
    );
  }
  const changed = hasOtherPolicy(state.settings, run.settings);
  if (followUp !== null) {
    // The cut-off turn belongs to the past: it is closed in the log, not shown as part of this run.
    const past = run.openLog(state, run.program.reporter.recall);
    await past.write(
      ...abandonTurn(state, { status: "cancelled", reason: "The run was interrupted and a new prompt was given." }),
    );
  }
  const log = run.openLog(state, run.program.reporter.show);
  const tools = changedTools(state.frozen.tools, run);
  await log.write(
    { type: "noted", kind: "sandbox", data: { ...run.sandbox } },
    ...opening(followUp, { changed, tools }, run),
    ...run.notes,
  );
  return log;
}

interface Changes {
  /** Another policy than the turn before. */
  changed: boolean;
  /** Other tools, where they are. */
  tools: ToolSpec[] | undefined;
}

function opening(followUp: string | null, changes: Changes, { settings, surroundings }: Run): ThreadRecord[] {
  const { changed, tools } = changes;
  if (followUp === null) return changed ? [{ type: "noted", kind: "policy", data: { settings } }] : [];
  const context = changed ? [permissionsMessage(settings, surroundings)] : undefined;
  const input = [{ type: "text" as const, text: followUp }];
  return [{ type: "turn.begun", turnId: newId(Date.now()), context, tools, input, settings }];
}

const hasOtherPolicy = (before: TurnSettings | null, now: TurnSettings): boolean =>
  before?.sandbox !== now.sandbox || before.cwd !== now.cwd || before.approval !== now.approval;
