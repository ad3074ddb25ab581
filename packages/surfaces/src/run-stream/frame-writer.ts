// Stores the frames of a run in one order: deltas are batched, frames of records are written with them.

import type { ModelProgress, Progress, Scrub, StoredRecord } from "@agentcli/engine";
import type { Usage } from "@agentcli/protocol";
import type { FrameGroup } from "./frames.ts";
import { type Frame, numberFrames } from "./numbered.ts";
import { runStream } from "./run-stream.ts";

export interface FrameWriter {
  /** Writes records with their frames, after everything that was streamed before them. */
  record(threadId: string, stored: StoredRecord[], insert: (frames: Frame[]) => Promise<void>): Promise<void>;
  /** Applies records of an earlier driver, whose frames are stored already. */
  recall(threadId: string, stored: StoredRecord): void;
  /** Applies output that an earlier driver has shown of a command that may go on. */
  recallOutput(callId: string, shown: string, read?: string): void;
  /** Progress of a reply or of a command, stored with the next batch. */
  progress(progress: Progress): void;
  /** Writes frames that are not derived from the log, such as the result; `insert` stores them together with its own rows. */
  conclude(groups: FrameGroup[], insert: (frames: Frame[]) => Promise<void>): Promise<void>;
}

export interface FrameWriterOptions {
  /** The run's own thread: of sub-agents only the usage is shown. */
  threadId: string;
  /** The turn of the run; usage paid by other turns is not counted. */
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

const replyBatchMs = 50;
/** Frames are kept for a day: four a second are enough for the eye. */
const outputBatchMs = 250;

export function openFrameWriter(options: FrameWriterOptions): FrameWriter {
  const stream = runStream(options.scrub);
  const deltas = openBatch();
  let after = options.after;
  let last: Promise<unknown> = Promise.resolve();
  /** Frames whose write failed; the next write includes them. */
  let unwritten: FrameGroup[] = [];

  function inOrder(write: () => Promise<void>): Promise<void> {
    const written = last.then(write);
    last = written.catch(() => {});
    return written;
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
    timer.clear();
    return [...deltas.take().flatMap((progress) => stream.progress(progress)), ...stream.printed()];
  };

  const flush = (): void => {
    inOrder(async () => {
      const groups = waiting();
      if (groups.length > 0) await store(groups, options.insertDeltas);
    }).catch(options.onProblem);
  };

  const timer = openTimer(flush);
  const charge = chargeFor(options.turnId, stream.charge);

  return {
    async record(threadId, stored, insert) {
      if (threadId === options.threadId)
        return inOrder(() => store([...waiting(), ...stored.flatMap((one) => stream.record(one))], insert));
      await insert([]);
      for (const one of stored) charge(threadId, one);
    },
    recall(threadId, stored) {
      if (threadId === options.threadId) stream.record(stored);
      else charge(threadId, stored);
    },
    recallOutput: stream.recallOutput,
    progress(progress) {
      if (progress.type === "hook") return;
      if (progress.type === "output") stream.print(progress);
      else deltas.add(progress);
      timer.startWithin(progress.type === "output" ? outputBatchMs : replyBatchMs);
    },
    conclude: (groups, insert) => inOrder(() => store([...waiting(), ...groups], insert)),
  };
}

/** Fires once, after the shortest of the delays it was started with. */
function openTimer(fire: () => void) {
  let current: { delayMs: number; handle: ReturnType<typeof setTimeout> } | undefined;
  const clear = (): void => {
    clearTimeout(current?.handle);
    current = undefined;
  };
  return {
    clear,
    startWithin(delayMs: number): void {
      if (current && current.delayMs <= delayMs) return;
      clear();
      current = { delayMs, handle: setTimeout(fire, delayMs) };
    },
  };
}

/** Sub-agents outlive the turn that spawned them; each of their turns names the one that pays. */
function chargeFor(turnId: string, charge: (usage: Usage) => void) {
  const payers = new Map<string, string>();
  return (threadId: string, { record }: StoredRecord): void => {
    if (record.type === "turn.begun") payers.set(threadId, record.paidBy ?? record.turnId);
    const isPaid = record.type === "model.replied" || record.type === "context.compacted";
    if (isPaid && payers.get(threadId) === turnId) charge(record.usage);
  };
}

/** Merges consecutive deltas of one kind. */
function openBatch() {
  let batch: ModelProgress[] = [];
  return {
    add(progress: ModelProgress) {
      const before = batch.at(-1);
      if (before && "delta" in before && "delta" in progress && before.type === progress.type)
        batch[batch.length - 1] = { ...before, delta: before.delta + progress.delta };
      else batch.push(progress);
    },
    take(): ModelProgress[] {
      const deltas = batch;
      batch = [];
      return deltas;
    },
  };
}
