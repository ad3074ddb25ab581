// What is known of a run's stream: the transcript, where it is to be resumed, and the connection. Readers see copies.
import type { StreamFrame } from "@agentcli/protocol/api";
import { applyFrame, emptyTranscript, type Transcript } from "./transcript.ts";

/** `expired`: the server no longer keeps it, so what the run itself says is all there is. */
export type Connection = "connecting" | "live" | "reconnecting" | "ended" | "expired" | "refused";

export interface RunView {
  transcript: Transcript;
  connection: Connection;
}

/** What a tab that reads passes on to the others. */
export type Shared = { connection: Connection } | { frames: ReceivedFrame[] };

export interface ReceivedFrame {
  frame: StreamFrame;
  id: string | null;
}

export interface RunSnapshot extends RunView {
  /** Of the last frame. */
  lastId: string | null;
}

export interface RunState {
  apply(shared: Shared): void;
  snapshot(): RunSnapshot;
  restore(state: RunSnapshot): void;
  view(): RunView;
}

/** Readers are notified at most this often, however many frames arrive. */
const notifyMs = 50;
/** So many in that time are a replay: what is drawn meanwhile would be replaced at once. */
const replayFrames = 300;
/** A long replay shows how far it is this often. */
const replayNotifyMs = 1_000;

export function openRunState(notify: () => void): RunState {
  const state: RunSnapshot = { transcript: emptyTranscript(), connection: "connecting", lastId: null };
  let view: RunView = { transcript: emptyTranscript(), connection: "connecting" };
  const publisher = openPublisher(() => {
    view = {
      transcript: { ...state.transcript, items: [...state.transcript.items] },
      connection: state.connection,
    };
    notify();
  });
  const change = (connection: Connection) => {
    state.connection = connection;
    publisher.schedule();
  };
  return {
    apply(shared) {
      if ("connection" in shared) return change(shared.connection);
      for (const { frame, id } of shared.frames) {
        if (id !== null) state.lastId = id;
        applyFrame(state.transcript, frame);
      }
      publisher.count(shared.frames.length);
      change("live");
      if (state.transcript.isDone) publisher.publishNow();
    },
    snapshot: () => state,
    restore({ transcript, lastId, connection }) {
      Object.assign(state, { transcript, lastId });
      change(connection);
    },
    view: () => view,
  };
}

/** Calls back soon after a change; during a replay, when it is over. */
function openPublisher(publish: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [arrived, waitedMs] = [0, 0];
  const publishNow = () => {
    clearTimeout(timer);
    timer = undefined;
    [arrived, waitedMs] = [0, 0];
    publish();
  };
  const look = () => {
    waitedMs += notifyMs;
    if (arrived < replayFrames || waitedMs >= replayNotifyMs) return publishNow();
    arrived = 0;
    timer = setTimeout(look, notifyMs);
  };
  return {
    schedule() {
      timer ??= setTimeout(look, notifyMs);
    },
    count(frames: number) {
      arrived += frames;
    },
    publishNow,
  };
}
