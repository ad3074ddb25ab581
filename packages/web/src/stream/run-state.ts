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
/** So many in that time are a replay, as is all of a run that has ended: what is drawn meanwhile would be replaced at once. */
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
  return {
    apply(shared) {
      if ("connection" in shared) {
        if (shared.connection === state.connection) return;
        state.connection = shared.connection;
        return publisher.publishNow();
      }
      for (const { frame, id } of shared.frames) {
        if (id !== null) state.lastId = id;
        else if (frame.event === "status") publisher.expectReplay(isOver(frame.data.status));
        applyFrame(state.transcript, frame);
      }
      state.connection = state.transcript.isDone ? "ended" : "live";
      if (state.transcript.isDone) publisher.publishNow();
      else publisher.schedule(shared.frames.length);
    },
    snapshot: () => state,
    restore({ transcript, lastId, connection }) {
      Object.assign(state, { transcript, lastId, connection });
      publisher.schedule(0);
    },
    view: () => view,
  };
}

/** Of the status that comes first on each connection: all that follows has been. */
const isOver = (status: string): boolean => status !== "RUNNING" && status !== "CREATING";

/** Calls back soon after a change; during a replay, when it is over. */
function openPublisher(publish: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [arrived, waitedMs, isReplay] = [0, 0, false];
  const publishNow = () => {
    clearTimeout(timer);
    timer = undefined;
    [arrived, waitedMs] = [0, 0];
    publish();
  };
  const look = () => {
    waitedMs += notifyMs;
    const isCalm = !isReplay && arrived < replayFrames;
    if (isCalm || waitedMs >= replayNotifyMs) return publishNow();
    arrived = 0;
    timer = setTimeout(look, notifyMs);
  };
  return {
    schedule(frames: number) {
      arrived += frames;
      timer ??= setTimeout(look, notifyMs);
    },
    expectReplay(isOver: boolean) {
      isReplay = isOver;
    },
    publishNow,
  };
}
