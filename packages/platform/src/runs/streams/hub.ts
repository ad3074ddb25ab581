// One source per run, shared by all its readers: recent frames in memory, older ones from the database, each page read once.
import { type Frame, isDetail } from "@agentcli/surfaces/run-stream";
import { type Notifications, retryOnce } from "../../foundation/index.ts";
import { encodeFrame, encodeWithoutId, isLast } from "./frame.ts";
import type { OpenStream, OpenStreams } from "./open-streams.ts";
import type { FramePages, FrameSelection, NoMoreFrames } from "./store.ts";

export interface Hub {
  /** Publishes frames that this server has just stored. */
  publish(runId: string, frames: Frame[]): void;
  /** Reads from the frame after `after` to the last frame of the run, in batches. Ends early when aborted. */
  read(request: FrameRequest, signal: AbortSignal): AsyncIterable<Batch>;
  /** Number of runs with readers, for the metrics. */
  sources(): number;
  /** Ends all readers; each can continue on another server from its last frame. */
  close(): void;
}

export interface FrameRequest {
  runId: string;
  /** The last frame that the reader has; 0 for none. */
  after: number;
  selection: FrameSelection;
}

/** Consecutive frames, encoded as sent to every reader. */
export interface Batch {
  last: number;
  bytes: Buffer;
  /** The batch contains the last frame of the run. */
  ends: boolean;
  /** There were no more when it was read. */
  isAll: boolean;
}

interface Source {
  /** The newest frames, consecutive. */
  recent: Frame[];
  recentBytes: number;
  readers: Set<() => void>;
  open: OpenStream;
  /** Set while a look into the database is due. */
  lookSoon?: NodeJS.Timeout | undefined;
  /** Pages being read or just read, by the frame before them: readers that start together share them. */
  pages: Record<FrameSelection, Map<number, Promise<Batch | null>>>;
}

const maxRecentBytes = 2 * 1024 * 1024;
const maxBatchFrames = 1_000;

export interface HubOptions {
  pages: FramePages;
  notifications: Notifications;
  openStreams: OpenStreams;
}

export async function openHub({ pages, notifications, openStreams }: HubOptions): Promise<Hub> {
  const sources = new Map<string, Source>();
  const wake = (runId: string) => {
    const source = sources.get(runId);
    if (!source) return;
    for (const pages of Object.values(source.pages)) pages.clear();
    for (const reader of [...source.readers]) reader();
  };
  const wakeAll = () => [...sources.keys()].forEach(wake);
  const lookSoon = (runId: string) => {
    const source = sources.get(runId);
    if (source) source.lookSoon ??= setTimeout(lookNow, lookDelayMs, runId).unref();
  };
  const onNotification = (runId: string) => {
    const source = sources.get(runId);
    if (source?.recent.length) lookSoon(runId);
    else wake(runId);
  };
  const lookNow = (runId: string) => {
    const source = sources.get(runId);
    if (source) source.lookSoon = undefined;
    wake(runId);
  };
  const renewAll = () => {
    for (const { open } of sources.values()) open.renew();
    wakeAll();
  };
  const unsubscribe = await notifications.subscribe("frames", { onMessage: onNotification, onGap: renewAll });
  let isClosed = false;
  const polling = setInterval(wakeAll, pollIntervalMs);
  polling.unref();
  return {
    publish(runId, frames) {
      const source = sources.get(runId);
      if (!source || frames.length === 0) return;
      remember(source, frames);
      wake(runId);
    },
    read: (request, signal) =>
      readSource(
        { sources, pages, openStreams, lookSoon },
        { ...request, signal, isOver: () => isClosed || signal.aborted },
      ),
    sources: () => sources.size,
    close() {
      clearInterval(polling);
      unsubscribe();
      isClosed = true;
      wakeAll();
    },
  };
}

/** Maximum delay of readers if a notification is lost. */
const pollIntervalMs = 5_000;

/**
 * Of a run that this server drives, readers have the frames before their notification comes. Only after another server
 * has taken the run over is there more in the database.
 */
const lookDelayMs = 100;

function remember(source: Source, frames: Frame[]): void {
  const next = source.recent.at(-1)?.seq;
  // A gap: another server wrote frames in between. Readers get those from the database.
  if (next !== undefined && frames[0]?.seq !== next + 1) forget(source);
  for (const frame of frames) {
    source.recent.push(frame);
    source.recentBytes += frame.data.length;
  }
  while (source.recentBytes > maxRecentBytes && source.recent.length > 1)
    source.recentBytes -= source.recent.shift()?.data.length ?? 0;
}

function forget(source: Source): void {
  source.recent = [];
  source.recentBytes = 0;
}

interface ReadOptions extends FrameRequest {
  signal: AbortSignal;
  /** The reader has disconnected, or the hub is closed. */
  isOver(): boolean;
}

interface ReadContext {
  sources: Map<string, Source>;
  pages: FramePages;
  openStreams: OpenStreams;
  lookSoon(runId: string): void;
}

async function* readSource(context: ReadContext, options: ReadOptions): AsyncIterable<Batch> {
  const { sources, pages, openStreams, lookSoon } = context;
  const { runId, after, selection, signal, isOver } = options;
  const source = sources.get(runId) ?? newSource(openStreams.open(runId));
  sources.set(runId, source);
  const wakeUp = createSignal(isOver);
  signal.addEventListener("abort", wakeUp.notify);
  source.readers.add(wakeUp.notify);
  try {
    await source.open.opened();
    // For what statements store that had begun before.
    lookSoon(runId);
    let last = after;
    while (!isOver()) {
      const arrival = wakeUp.next();
      const batch = await nextBatch(source, pages, { runId, after: last, selection });
      if (batch) {
        last = batch.last;
        yield batch;
        if (batch.ends) return;
      }
      if (!batch || batch.isAll) await arrival;
    }
  } finally {
    signal.removeEventListener("abort", wakeUp.notify);
    source.readers.delete(wakeUp.notify);
    if (source.readers.size === 0) {
      clearTimeout(source.lookSoon);
      sources.delete(runId);
      source.open.close();
    }
  }
}

const newSource = (open: OpenStream): Source => ({
  ...{ recent: [], recentBytes: 0, readers: new Set(), pages: { all: new Map(), brief: new Map() } },
  open,
});

function nextBatch(source: Source, pages: FramePages, request: FrameRequest): Promise<Batch | null> {
  const { runId, after, selection } = request;
  const known = source.pages[selection];
  const shared = known.get(after);
  if (shared) return shared;
  const page = isRecent(source, after)
    ? Promise.resolve(recentBatch(source, request))
    : retryOnce(() => pages.read(runId, after, selection)).then((frames) =>
        typeof frames === "string" ? endOf(after, frames) : batchOf(frames),
      );
  known.set(after, page);
  page.catch(() => known.delete(after));
  return page;
}

const isRecent = ({ recent }: Source, after: number): boolean =>
  recent[0] !== undefined && recent[0].seq <= after + 1 && (recent.at(-1)?.seq ?? 0) > after;

/** Less than any page that was cut has. */
const maxUncutBytes = 512 * 1024;

function recentBatch({ recent }: Source, { after, selection }: FrameRequest): Batch | null {
  const frames = recent.filter(({ seq }) => seq > after).slice(0, maxBatchFrames);
  const batch = batchOf(frames);
  if (!batch || selection === "all") return batch;
  return { ...batch, bytes: encode(frames.filter((frame) => !isDetail(frame))) };
}

function batchOf(frames: Frame[]): Batch | null {
  const last = frames.at(-1);
  if (!last) return null;
  const bytes = encode(frames);
  const isAll = frames.length < maxBatchFrames && bytes.length < maxUncutBytes;
  return { last: last.seq, bytes, ends: isLast(last), isAll };
}

const encode = (frames: Frame[]): Buffer => Buffer.from(frames.map(encodeFrame).join(""));

/** Clients treat the first code as final; after the second they read the run. */
const endings: Record<NoMoreFrames, object> = {
  gone: { code: "not_found", message: "The run was deleted." },
  silent: { code: "internal", message: "The run ended without an event; read the run itself." },
};

const endOf = (after: number, why: NoMoreFrames): Batch => ({
  last: after,
  bytes: Buffer.from(encodeWithoutId("error", endings[why])),
  ends: true,
  isAll: true,
});

/** `notify` resolves the promise of the latest `next`. Call `next` before reading, so that no notification is lost. */
function createSignal(isOver: () => boolean) {
  let wake = () => {};
  return {
    notify: () => wake(),
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
        if (isOver()) resolve();
      }),
  };
}
