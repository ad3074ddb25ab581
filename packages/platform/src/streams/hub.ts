// One source per run, however many read it: recent frames in memory, older ones from the database, each page read once.
import type { Frame } from "@agentcli/engine";
import { type Listener, type Notifications, onceMore } from "../db/index.ts";
import { encodeFrame, encodeWithoutId, isLast } from "./frame.ts";
import type { FramePages, NoMoreFrames } from "./store.ts";

export interface Hub {
  /** Frames that this server has just stored. */
  publish(runId: string, frames: Frame[]): void;
  /** From behind this frame to the last one of the run, in batches. Ends early when aborted. */
  read(runId: string, after: number, signal: AbortSignal): AsyncIterable<Batch>;
  /** Runs that are being read, for the metrics. */
  sources(): number;
  /** Every reader comes to its end; each can go on elsewhere from where it was. */
  close(): void;
}

/** Frames in a row, as the bytes all their readers get. */
export interface Batch {
  last: number;
  bytes: Buffer;
  /** With it the run's stream is over. */
  ends: boolean;
}

interface Source {
  /** The newest frames, in a row. */
  recent: Frame[];
  recentBytes: number;
  readers: Set<() => void>;
  /** Pages under way or just read, by the frame they come behind: readers that start together share them. */
  pages: Map<number, Promise<Batch | null>>;
}

const mostRecentBytes = 2 * 1024 * 1024;
const mostBatchFrames = 1_000;

export async function openHub(pages: FramePages, notifications: Notifications): Promise<Hub> {
  const sources = new Map<string, Source>();
  const wake = (runId: string) => {
    const source = sources.get(runId);
    if (!source) return;
    source.pages.clear();
    for (const reader of [...source.readers]) reader();
  };
  const wakeAll: Listener["onGap"] = () => [...sources.keys()].forEach(wake);
  const unsubscribe = await notifications.subscribe("frames", { onMessage: wake, onGap: wakeAll });
  let isClosed = false;
  const looking = setInterval(wakeAll, lookAgainMs);
  looking.unref();
  return {
    publish(runId, frames) {
      const source = sources.get(runId);
      if (!source || frames.length === 0) return;
      remember(source, frames);
      wake(runId);
    },
    read: (runId, after, signal) =>
      readSource(sources, pages, { runId, after, signal, isOver: () => isClosed || signal.aborted }),
    sources: () => sources.size,
    close() {
      clearInterval(looking);
      unsubscribe();
      isClosed = true;
      wakeAll();
    },
  };
}

/** A message that got lost on the way delays readers by no more than this. */
const lookAgainMs = 5_000;

function remember(source: Source, frames: Frame[]): void {
  const next = source.recent.at(-1)?.seq;
  // A gap: another server has written in between. Readers take it from the database.
  if (next !== undefined && frames[0]?.seq !== next + 1) forget(source);
  for (const frame of frames) {
    source.recent.push(frame);
    source.recentBytes += frame.data.length;
  }
  while (source.recentBytes > mostRecentBytes && source.recent.length > 1)
    source.recentBytes -= source.recent.shift()?.data.length ?? 0;
}

function forget(source: Source): void {
  source.recent = [];
  source.recentBytes = 0;
}

interface Reading {
  runId: string;
  after: number;
  signal: AbortSignal;
  /** Whoever reads is gone, or the hub is closed. */
  isOver(): boolean;
}

async function* readSource(
  sources: Map<string, Source>,
  pages: FramePages,
  { runId, after, signal, isOver }: Reading,
): AsyncIterable<Batch> {
  const source = sources.get(runId) ?? { recent: [], recentBytes: 0, readers: new Set(), pages: new Map() };
  sources.set(runId, source);
  const waiting = bell(isOver);
  signal.addEventListener("abort", waiting.ring);
  source.readers.add(waiting.ring);
  try {
    let last = after;
    while (!isOver()) {
      const arrival = waiting.next();
      const batch = await nextBatch(source, pages, runId, last);
      if (!batch) {
        await arrival;
        continue;
      }
      last = batch.last;
      yield batch;
      if (batch.ends) return;
    }
  } finally {
    signal.removeEventListener("abort", waiting.ring);
    source.readers.delete(waiting.ring);
    if (source.readers.size === 0) sources.delete(runId);
  }
}

function nextBatch(source: Source, pages: FramePages, runId: string, after: number): Promise<Batch | null> {
  const known = source.pages.get(after);
  if (known) return known;
  const page = isRecent(source, after)
    ? Promise.resolve(batchOf(source.recent.filter(({ seq }) => seq > after).slice(0, mostBatchFrames)))
    : onceMore(() => pages.read(runId, after)).then((frames) =>
        typeof frames === "string" ? endOf(after, frames) : batchOf(frames),
      );
  source.pages.set(after, page);
  page.catch(() => source.pages.delete(after));
  return page;
}

const isRecent = ({ recent }: Source, after: number): boolean =>
  recent[0] !== undefined && recent[0].seq <= after + 1 && (recent.at(-1)?.seq ?? 0) > after;

function batchOf(frames: Frame[]): Batch | null {
  const last = frames.at(-1);
  if (!last) return null;
  return { last: last.seq, bytes: Buffer.from(frames.map(encodeFrame).join("")), ends: isLast(last) };
}

/** Readers take the first code as final, and after the second they look at the run. */
const endings: Record<NoMoreFrames, object> = {
  gone: { code: "not_found", message: "The run was deleted." },
  silent: { code: "internal", message: "The run ended without a word; read the run itself." },
};

const endOf = (after: number, why: NoMoreFrames): Batch => ({
  last: after,
  bytes: Buffer.from(encodeWithoutId("error", endings[why])),
  ends: true,
});

/** Rings wake whoever waits, and are not lost when nobody does. */
function bell(isOver: () => boolean) {
  let wake = () => {};
  return {
    ring: () => wake(),
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
        if (isOver()) resolve();
      }),
  };
}
