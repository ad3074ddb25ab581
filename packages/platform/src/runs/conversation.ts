// The agent's thread, taken up for a run: its first turn, a follow-up, or the turn that was cut off.
import {
  abandonTurn,
  changedTools,
  emptyThread,
  freeze,
  type Log,
  openLog,
  permissionsMessage,
  planMessage,
  promptParts,
  readThread,
  type SessionStore,
  type StoredRecord,
  type ThreadState,
} from "@agentcli/engine";
import type { ContextMessage, ThreadRecord, TurnEnd, TurnSettings } from "@agentcli/protocol";
import type { Recorder } from "../streams/index.ts";
import { version } from "../version.ts";
import type { Equipment, Intent } from "./compose/index.ts";
import { threadOf } from "./ids.ts";
import type { OpenedRun } from "./records.ts";

/** What the log says before anything is done. */
export interface Past {
  state: ThreadState;
  /** Records of this run; none where its turn has not begun. */
  records: StoredRecord[];
  /** The turn of this run has ended before, and only what follows it is left to do. */
  ended: TurnEnd | null;
}

/** A turn is called like its run: that is how a run knows what of it has happened. */
export async function readPast({ run, agent }: OpenedRun, store: SessionStore, recorder: Recorder): Promise<Past> {
  const threadId = threadOf(agent.id);
  const { state, records: all } = await readThread(store, threadId);
  const records = ofRun(all, run.id);
  for (const stored of [...all.slice(0, 1), ...records]) recorder.recall(threadId, stored);
  return { state, records, ended: endOf(records, run.id) };
}

export interface TakingUp {
  past: Past;
  opened: OpenedRun;
  intent: Intent;
  turn: TurnSettings;
  equipment: Equipment;
  store: SessionStore;
}

export async function takeUp({ past, store, ...taking }: TakingUp): Promise<Log> {
  const { opened, intent, equipment } = taking;
  const { state, records } = past;
  const isNew = state.seq === 0;
  const thread = isNew ? emptyThread(threadOf(opened.agent.id)) : state;
  const log = openLog(thread, { store, emit() {}, scrub: intent.scrub });
  const sandbox: ThreadRecord = { type: "noted", kind: "sandbox", data: { ...equipment.sandbox } };
  if (records.length > 0) await log.write(sandbox);
  else await log.write(...before(thread, taking), sandbox, turnBegun(state, taking), ...equipment.notes);
  return log;
}

type Taking = Omit<TakingUp, "past" | "store">;

function before(state: ThreadState, { opened, intent, turn, equipment }: Taking): ThreadRecord[] {
  if (state.seq > 0)
    return abandonTurn(state, { status: "cancelled", reason: "Another run began before this one had ended." });
  const { surroundings, tools, hooks } = equipment;
  const traits = { freeformTools: intent.chosen.facts.freeform };
  const created: ThreadRecord = {
    type: "thread.created",
    threadId: threadOf(opened.agent.id),
    frozen: { ...freeze(turn, surroundings, tools, traits), ...(hooks.length > 0 && { hooks }) },
    settings: turn,
    program: { name: "platform", version },
  };
  return [created];
}

function turnBegun(state: ThreadState, { opened, intent, turn, equipment }: Taking): ThreadRecord {
  const { request } = opened.run;
  const isOther = state.settings !== null && state.settings.sandbox !== turn.sandbox;
  const called = equipment.written.forPrompt(request.prompt.text);
  const context: ContextMessage[] = [
    ...(isOther ? [permissionsMessage(turn, equipment.surroundings)] : []),
    ...(request.mode === "plan" ? [planMessage] : []),
    ...called.messages,
  ];
  const tools =
    state.seq === 0
      ? undefined
      : changedTools(state.frozen.tools, equipment.tools, { freeformTools: intent.chosen.facts.freeform });
  equipment.notes.push(
    ...called.warnings.map((message): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } })),
  );
  return {
    type: "turn.begun",
    turnId: opened.run.id,
    ...(context.length > 0 && { context }),
    ...(tools && { tools }),
    input: promptParts(request.prompt.text, request.prompt.images),
    settings: turn,
  };
}

function ofRun(records: StoredRecord[], runId: string): StoredRecord[] {
  const first = records.findIndex(({ record }) => record.type === "turn.begun" && record.turnId === runId);
  return first === -1 ? [] : records.slice(first);
}

function endOf(records: StoredRecord[], runId: string): TurnEnd | null {
  for (const { record } of records) if (record.type === "turn.ended" && record.turnId === runId) return record.end;
  return null;
}
