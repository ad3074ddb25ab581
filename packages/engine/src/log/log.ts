// The one write path of a thread: append to the store, fold, emit, in this order and one batch after another.
import type { ThreadRecord } from "@agentcli/protocol";
import type { SessionStore, StoredRecord } from "../ports.ts";
import { apply } from "../state/apply.ts";
import { emptyThread, type ThreadState } from "../state/state.ts";
import { type Scrub, scrubJson } from "./scrub.ts";

export type Emit = (stored: StoredRecord) => void | Promise<void>;

export interface Log {
  readonly state: ThreadState;
  /** Settles when the records are stored and emitted. Concurrent calls are written in call order. */
  write(...records: ThreadRecord[]): Promise<void>;
}

export interface LogOptions {
  store: SessionStore;
  emit: Emit;
  /** Applied to every string of every record before it is stored. */
  scrub?: Scrub;
}

export function openLog(state: ThreadState, { store, emit, scrub }: LogOptions): Log {
  let last: Promise<void> = Promise.resolve();
  const append = async (written: ThreadRecord[]) => {
    const records = scrub ? scrubJson(written, scrub) : written;
    for (const stored of await store.append(state.threadId, state.seq, records)) {
      apply(state, stored);
      await emit(stored);
    }
  };
  return {
    state,
    write(...records) {
      last = last.then(() => append(records));
      return last;
    },
  };
}

/** The state of a thread, with the records it was folded from. */
export async function readThread(
  store: SessionStore,
  threadId: string,
): Promise<{ state: ThreadState; records: StoredRecord[] }> {
  const state = emptyThread(threadId);
  const records: StoredRecord[] = [];
  for await (const batch of store.read(threadId)) {
    for (const stored of batch) {
      apply(state, stored);
      records.push(stored);
    }
  }
  return { state, records };
}
