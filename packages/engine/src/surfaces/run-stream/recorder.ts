// Turns what happens in a run into stored frames, in one order: deltas gathered for a moment, records with their own write.
import type { Usage } from "@agentcli/protocol";
import type { ModelProgress, StoredRecord } from "../../ports.ts";
import type { Scrub } from "../../scrub.ts";
import type { FrameGroup } from "./frames.ts";
import { type Frame, numberFrames } from "./numbered.ts";
import { runStream } from "./run-stream.ts";

export interface Recorder {
  /** Writes records with the frames they show, behind everything that was streamed before them. */
  record(threadId: string, stored: StoredRecord[], insert: (frames: Frame[]) => Promise<void>): Promise<void>;
  /** Takes note of records of an earlier holder: their frames are stored already. */
  recall(threadId: string, stored: StoredRecord): void;
  /** News of a reply on its way, shown within a moment. */
  progress(progress: ModelProgress): void;
  /** Writes the frames of what is not in the log, such as the result; `insert` also does what belongs to them. */
  conclude(groups: FrameGroup[], insert: (frames: Frame[]) => Promise<void>): Promise<void>;
}

export interface RecorderOptions {
  /** The run's own thread: of those of sub-agents only the usage is shown. */
  threadId: string;
  /** Of the run: what it pays for. */
  turnId: string;
  /** When the run was created; part of the ids of its frames. */
  bornAt: Date;
  /** The last frame that is stored. */
  after: number;
  scrub: Scrub;
  insertDeltas(frames: Frame[]): Promise<void>;
  publish(frames: Frame[]): void;
  onProblem(error: unknown): void;
}

const gatherMs = 50;

export function openRecorder(options: RecorderOptions): Recorder {
  const stream = runStream(options.scrub);
  const deltas = gather();
  let after = options.after;
  let last: Promise<unknown> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Frames that could not be written yet. */
  let unwritten: FrameGroup[] = [];

  function inTurn(write: () => Promise<void>): Promise<void> {
    const turn = last.then(write);
    last = turn.catch(() => {});
    return turn;
  }

  async function store(groups: FrameGroup[], insert: (frames: Frame[]) => Promise<void>): Promise<void> {
    const all = [...unwritten, ...groups];
    const frames = numberFrames(all, { after, bornAt: options.bornAt });
    unwritten = all;
    await insert(frames);
    unwritten = [];
    after += frames.length;
    options.publish(frames);
  }

  const waiting = (): FrameGroup[] => {
    clearTimeout(timer);
    timer = undefined;
    return deltas.take().flatMap((progress) => stream.progress(progress));
  };

  const flush = (): void => {
    const written = inTurn(async () => {
      const groups = waiting();
      if (groups.length > 0) await store(groups, options.insertDeltas);
    });
    written.catch(options.onProblem);
  };

  const charge = chargeFor(options.turnId, stream.charge);

  return {
    async record(threadId, stored, insert) {
      if (threadId === options.threadId)
        return inTurn(() => store([...waiting(), ...stored.flatMap((one) => stream.record(one))], insert));
      await insert([]);
      for (const one of stored) charge(threadId, one);
    },
    recall(threadId, stored) {
      if (threadId === options.threadId) stream.record(stored);
      else charge(threadId, stored);
    },
    progress(progress) {
      deltas.add(progress);
      timer ??= setTimeout(flush, gatherMs);
    },
    conclude: (groups, insert) => inTurn(() => store([...waiting(), ...groups], insert)),
  };
}

/** Sub-agents outlive the turn they began in; each turn of theirs says which one pays. */
function chargeFor(turnId: string, charge: (usage: Usage) => void) {
  const payers = new Map<string, string>();
  return (threadId: string, { record }: StoredRecord): void => {
    if (record.type === "turn.begun") payers.set(threadId, record.paidBy ?? record.turnId);
    const isPaid = record.type === "model.replied" || record.type === "context.compacted";
    if (isPaid && payers.get(threadId) === turnId) charge(record.usage);
  };
}

/** Deltas in a row of one kind are one. */
function gather() {
  let gathered: ModelProgress[] = [];
  return {
    add(progress: ModelProgress) {
      const before = gathered.at(-1);
      if (before && "delta" in before && "delta" in progress && before.type === progress.type)
        gathered[gathered.length - 1] = { ...before, delta: before.delta + progress.delta };
      else gathered.push(progress);
    },
    take(): ModelProgress[] {
      const taken = gathered;
      gathered = [];
      return taken;
    },
  };
}
