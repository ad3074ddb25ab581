// The thread's one write path: append to the store, fold, tell the surfaces, in this order and one after another.
import type { ThreadRecord } from "@agentcli/protocol";
import type { SessionStore, StoredRecord } from "./ports.ts";
import { type Scrub, scrubJson } from "./scrub.ts";
import { apply, emptyThread, type ThreadState } from "./state.ts";

export type Emit = (stored: StoredRecord) => void | Promise<void>;

export interface Log {
  readonly state: ThreadState;
  /** Settles when the records are stored and shown. Calls made at the same time are written in call order. */
  write(...records: ThreadRecord[]): Promise<void>;
}

export interface LogOptions {
  store: SessionStore;
  emit: Emit;
  /** Applied to every text of every record before anything else sees it. */
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

/** The thread as its log says, with the records it was made of. */
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
