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
export type Shared = { connection: Connection } | { frame: StreamFrame; id: string | null };

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

export function openRunState(notify: () => void): RunState {
  const state: RunSnapshot = { transcript: emptyTranscript(), connection: "connecting", lastId: null };
  let view: RunView = { transcript: emptyTranscript(), connection: "connecting" };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const publish = () => {
    timer = undefined;
    view = {
      transcript: { ...state.transcript, items: [...state.transcript.items] },
      connection: state.connection,
    };
    notify();
  };
  const change = (connection: Connection) => {
    state.connection = connection;
    if (timer === undefined) timer = setTimeout(publish, notifyMs);
  };
  return {
    apply(shared) {
      if ("connection" in shared) return change(shared.connection);
      if (shared.id !== null) state.lastId = shared.id;
      applyFrame(state.transcript, shared.frame);
      change("live");
    },
    snapshot: () => state,
    restore({ transcript, lastId, connection }) {
      Object.assign(state, { transcript, lastId });
      change(connection);
    },
    view: () => view,
  };
}
