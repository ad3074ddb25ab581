// One turn of a loaded thread: who started it, how it is stopped, and input that arrives meanwhile.
import type { SteeringInput, StopReason } from "@agentcli/engine";
import type { Turn } from "@agentcli/protocol/app-server";
import type { Client } from "../method.ts";

export interface RunningTurn {
  readonly id: string;
  readonly kind: "work" | "review" | "compact";
  readonly client: Client | null;
  readonly signal: AbortSignal;
  /** Ends it as interrupted. */
  stop(reason: string): void;
  steer(input: SteeringInput): void;
  /** Removes and returns input that has not been used yet. */
  drain(): SteeringInput[];
  /** Settles when nothing of it is left. */
  readonly over: Promise<void>;
  finish(): void;
}

export function openTurn(id: string, kind: RunningTurn["kind"], client: Client | null): RunningTurn {
  const stopping = new AbortController();
  const waiting: SteeringInput[] = [];
  let finish = () => {};
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    id,
    kind,
    client,
    signal: stopping.signal,
    stop(reason) {
      const why: StopReason = { end: { status: "cancelled", reason } };
      stopping.abort(why);
    },
    steer: (input) => void waiting.push(input),
    drain: () => waiting.splice(0),
    over,
    finish: () => finish(),
  };
}

/** As the answer of `turn/start` has it: nothing has happened yet. */
export const freshTurn = (id: string): Turn => ({
  id,
  items: [],
  itemsView: "notLoaded",
  status: "inProgress",
  startedAt: Math.floor(Date.now() / 1000),
});
