// Follows a run: reads its stream to the end, and resumes it after any interruption exactly where it was.
import type { StreamFrame } from "@agentcli/protocol/api";
import { openEventParser } from "./sse.ts";
import { applyFrame, emptyTranscript, type Transcript } from "./transcript.ts";

/** `expired`: the server no longer keeps it, so what the run itself says is all there is. */
export type Connection = "connecting" | "live" | "reconnecting" | "ended" | "expired" | "refused";

export interface RunView {
  transcript: Transcript;
  connection: Connection;
}

export interface Feed {
  subscribe(listener: () => void): () => void;
  read(): RunView;
}

export interface FollowOptions {
  url: string;
  /** Called when the run has ended, or could not be followed. */
  onEnd?: () => void;
}

/** The server sends a heartbeat every 15 s: longer silence means that the connection is gone. */
const silenceMs = 40_000;
const firstDelayMs = 500;
const maxDelayMs = 8_000;
/** Readers are notified at most this often, however many frames arrive. */
const notifyMs = 50;

/** Runs while it has subscribers; a later subscriber resumes it. */
export function followRun({ url, onEnd }: FollowOptions): Feed {
  const listeners = new Set<() => void>();
  const transcript = emptyTranscript();
  let view: RunView = { transcript: emptyTranscript(), connection: "connecting" };
  let connection: Connection = "connecting";
  let lastId: string | null = null;
  let attempt: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const publish = () => {
    timer = undefined;
    view = { transcript: { ...transcript, items: [...transcript.items] }, connection };
    for (const listener of listeners) listener();
  };
  const change = (next: Connection) => {
    connection = next;
    if (timer === undefined) timer = setTimeout(publish, notifyMs);
  };
  const onFrame = (frame: StreamFrame, id: string | null) => {
    if (id !== null) lastId = id;
    applyFrame(transcript, frame);
    change("live");
  };
  const run = async (signal: AbortSignal) => {
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
      const before = lastId;
      const outcome = await readOnce({ url, lastId, onFrame, signal });
      if (signal.aborted) return;
      if (transcript.isDone || outcome !== "interrupted") {
        change(transcript.isDone || outcome === "interrupted" ? "ended" : outcome);
        return onEnd?.();
      }
      if (lastId !== before) delayMs = firstDelayMs;
      change("reconnecting");
      await wait(delayMs, signal);
    }
  };
  const start = () => {
    if (attempt || connection === "ended" || connection === "expired") return;
    attempt = new AbortController();
    void run(attempt.signal);
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
    read: () => view,
  };
}

interface ReadOptions {
  url: string;
  lastId: string | null;
  onFrame(frame: StreamFrame, id: string | null): void;
  signal: AbortSignal;
}

async function readOnce({ url, lastId, onFrame, signal }: ReadOptions): Promise<"interrupted" | "expired" | "refused"> {
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal.addEventListener("abort", abort);
  let silence = setTimeout(abort, silenceMs);
  try {
    const headers = { accept: "text/event-stream", ...(lastId !== null && { "last-event-id": lastId }) };
    const response = await fetch(url, { headers, signal: attempt.signal });
    if (response.status === 410) return "expired";
    if (response.status >= 400 && response.status < 500 && response.status !== 429) return "refused";
    if (!response.ok || !response.body) return "interrupted";
    const parse = openEventParser(({ id, event, data }) =>
      onFrame({ event, data: JSON.parse(data) } as StreamFrame, id),
    );
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "interrupted";
      clearTimeout(silence);
      silence = setTimeout(abort, silenceMs);
      parse(value);
    }
  } catch {
    return "interrupted"; // Network, sleep or restart of the server: the next attempt continues after the last frame.
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", abort);
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
