// Follows a run: reads its stream to the end, and resumes it after any interruption exactly where it was.
import type { StreamFrame } from "@agentcli/protocol/api";
import {
  type Connection,
  openRunState,
  type ReceivedFrame,
  type RunState,
  type RunView,
  type Shared,
} from "./run-state.ts";
import { canShare, share } from "./share.ts";
import { openEventParser } from "./sse.ts";

export interface Feed {
  subscribe(listener: () => void): () => void;
  read(): RunView;
}

export interface FollowOptions {
  /** Of the stream. Updates that repeat an event in more detail are not requested: they are half the bytes of a long run. */
  url: string;
  /** Called when the run has ended, or could not be followed. */
  onEnd?: () => void;
}

/** The server sends a heartbeat every 15 s: longer silence means that the connection is gone. */
const silenceMs = 40_000;
const firstDelayMs = 500;
const maxDelayMs = 8_000;

/** Runs while it has subscribers; a later subscriber resumes it. Tabs share one connection where the browser can. */
export function followRun({ url, onEnd }: FollowOptions): Feed {
  const listeners = new Set<() => void>();
  const state = openRunState(() => {
    for (const listener of listeners) listener();
  });
  let attempt: AbortController | null = null;
  const lead = async (pass: (shared: Shared) => void, signal: AbortSignal) => {
    const end = await readToEnd({ url, state, pass }, signal);
    if (end === null) return;
    state.apply({ connection: end });
    onEnd?.();
  };
  const start = () => {
    const { connection } = state.snapshot();
    if (attempt || connection === "ended" || connection === "expired") return;
    attempt = new AbortController();
    if (canShare()) void share({ name: `stream:${url}`, lead, ...state }, attempt.signal);
    else void lead(() => {}, attempt.signal);
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      start();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        attempt?.abort();
        attempt = null;
      };
    },
    read: state.view,
  };
}

interface ReadToEndOptions {
  url: string;
  state: RunState;
  pass(shared: Shared): void;
}

/** Returns how it ended; null where it was aborted. */
async function readToEnd({ url, state, pass }: ReadToEndOptions, signal: AbortSignal): Promise<Connection | null> {
  const take = (shared: Shared) => {
    state.apply(shared);
    pass(shared);
  };
  const onFrames = (frames: ReceivedFrame[]) => take({ frames });
  const isDone = () => state.snapshot().transcript.isDone;
  if (isDone()) return "ended";
  for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
    const { lastId } = state.snapshot();
    const outcome = await readOnce({ url, lastId, onFrames, signal });
    if (signal.aborted) return null;
    if (isDone()) return "ended";
    if (outcome !== "interrupted") return outcome;
    if (state.snapshot().lastId !== lastId) delayMs = firstDelayMs;
    take({ connection: "reconnecting" });
    await wait(delayMs, signal);
  }
  return null;
}

interface ReadOptions {
  url: string;
  lastId: string | null;
  /** Those that arrived together. */
  onFrames(frames: ReceivedFrame[]): void;
  signal: AbortSignal;
}

async function readOnce({
  url,
  lastId,
  onFrames,
  signal,
}: ReadOptions): Promise<"interrupted" | "expired" | "refused"> {
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal.addEventListener("abort", abort);
  // A connection over a network that is gone would only be noticed by its silence.
  window.addEventListener("offline", abort);
  let silence = setTimeout(abort, silenceMs);
  try {
    const headers = { accept: "text/event-stream", ...(lastId !== null && { "last-event-id": lastId }) };
    const response = await fetch(`${url}?details=false`, { headers, signal: attempt.signal });
    if (response.status === 410) return "expired";
    if (response.status >= 400 && response.status < 500 && response.status !== 429) return "refused";
    if (!response.ok || !response.body) return "interrupted";
    let frames: ReceivedFrame[] = [];
    const parse = openEventParser(({ id, event, data }) => {
      frames.push({ frame: { event, data: JSON.parse(data) } as StreamFrame, id });
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "interrupted";
      clearTimeout(silence);
      silence = setTimeout(abort, silenceMs);
      parse(value);
      if (frames.length > 0) onFrames(frames);
      frames = [];
    }
  } catch {
    return "interrupted"; // Network, sleep or restart of the server: the next attempt continues after the last frame.
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", abort);
    window.removeEventListener("offline", abort);
    attempt.abort();
  }
}

/** Ends early when the network or the page comes back. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const [target, name] of wakeups) target.removeEventListener(name, done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const wakeups = [
      [window, "online"],
      [document, "visibilitychange"],
    ] as const;
    const timer = setTimeout(done, ms);
    for (const [target, name] of wakeups) target.addEventListener(name, done);
    signal.addEventListener("abort", done);
  });
}
