// The agent's thread, taken up for a run: its first turn, a follow-up, or the turn that was cut off.
import {
  abandonTurn,
  emptyThread,
  freeze,
  type Log,
  openLog,
  readThread,
  type SessionStore,
  type StoredRecord,
  type Tool,
} from "@agentcli/engine";
import type { ContextMessage, Part, ThreadRecord, TurnEnd } from "@agentcli/protocol";
import type { Recorder } from "../streams/index.ts";
import { version } from "../version.ts";
import type { Composed } from "./compose.ts";
import { threadOf } from "./ids.ts";
import type { Place } from "./place.ts";
import type { OpenedRun } from "./records.ts";
import type { RunRequest } from "./request.ts";

export interface Conversation {
  log: Log;
  /** The turn of this run has ended before, and only what follows it is left to do. */
  ended: TurnEnd | null;
  /** Records of this run, as they come. */
  records: StoredRecord[];
}

export interface TakingUp {
  opened: OpenedRun;
  composed: Composed;
  place: Place;
  tools: Tool[];
  store: SessionStore;
  recorder: Recorder;
}

/** A turn is called like its run: that is how a run knows what of it has happened. */
export async function takeUp({ opened, composed, place, tools, store, recorder }: TakingUp): Promise<Conversation> {
  const { run, agent } = opened;
  const threadId = threadOf(agent.id);
  const { state, records: before } = await readThread(store, threadId);
  const records = ofRun(before, run.id);
  for (const stored of [...before.slice(0, 1), ...records]) recorder.recall(stored);
  const emit = (stored: StoredRecord) => void records.push(stored);
  const log = openLog(state.seq === 0 ? emptyThread(threadId) : state, { store, emit, scrub: composed.scrub });
  const ended = endOf(records, run.id);
  if (ended) return { log, ended, records };
  const sandbox: ThreadRecord = { type: "noted", kind: "sandbox", data: { ...place.report } };
  if (records.length > 0) await log.write(sandbox);
  else await log.write(...beginning({ opened, composed, place, tools, log }), sandbox, turnBegun(opened, composed));
  return { log, ended: null, records };
}

function beginning({ opened, composed, place, tools, log }: Omit<TakingUp, "store" | "recorder"> & { log: Log }) {
  if (log.state.seq > 0)
    return abandonTurn(log.state, { status: "cancelled", reason: "Another run began before this one had ended." });
  const around = { ...today(), writableRoots: place.writableRoots, network: true, rules: [], catalogues: [] };
  const created: ThreadRecord = {
    type: "thread.created",
    threadId: threadOf(opened.agent.id),
    frozen: freeze(composed.turn, around, tools, { freeformTools: composed.chosen.facts.freeform }),
    settings: composed.turn,
    program: { name: "platform", version },
  };
  return [created];
}

function turnBegun({ run }: OpenedRun, { turn }: Composed): ThreadRecord {
  const context = run.request.mode === "plan" ? [planMode] : [];
  return {
    type: "turn.begun",
    turnId: run.id,
    ...(context.length > 0 && { context }),
    input: inputOf(run.request),
    settings: turn,
  };
}

const planMode: ContextMessage = {
  role: "developer",
  parts: [
    {
      type: "text",
      text: "Plan mode: look around as much as you need, change nothing, and answer with a plan: small steps in order, each with what shows that it is done.",
    },
  ],
};

function inputOf({ prompt }: RunRequest): Part[] {
  const images = prompt.images.map(
    (image): Part => ({
      type: "image",
      url: "url" in image ? image.url : `data:${image.mimeType};base64,${image.data}`,
    }),
  );
  return [...images, { type: "text", text: prompt.text }];
}

function ofRun(records: StoredRecord[], runId: string): StoredRecord[] {
  const first = records.findIndex(({ record }) => record.type === "turn.begun" && record.turnId === runId);
  return first === -1 ? [] : records.slice(first);
}

function endOf(records: StoredRecord[], runId: string): TurnEnd | null {
  for (const { record } of records) if (record.type === "turn.ended" && record.turnId === runId) return record.end;
  return null;
}

const today = () => ({ date: new Date().toISOString().slice(0, 10), timezone: "UTC+00:00" });
