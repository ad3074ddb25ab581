// What has happened in a thread, folded from its records: its state, the view of its clients and its entry in lists.
import { apply, emptyThread, type StoredRecord, type ThreadState } from "@agentcli/engine";
import type { FileStore } from "@agentcli/host/sessions";
import type { Notice, ThreadView } from "@agentcli/surfaces/app-server";
import { type Facts, newFacts, noteFacts } from "./facts.ts";
import { openView } from "./live.ts";

export interface History {
  readonly state: ThreadState;
  readonly view: ThreadView;
  readonly facts: Facts;
  /** Adds a record that the state has already; returns what clients are notified of. */
  add(stored: StoredRecord): Notice[];
  /** Reads what another program has appended in the meantime, and takes the writer's lock. */
  catchUp(onNotices: (notices: Notice[]) => void): Promise<void>;
}

export interface HistoryOptions {
  id: string;
  /** Records of a thread that is continued. */
  past: StoredRecord[];
  store: FileStore;
  version: string;
  scrub(text: string): string;
  contextWindow(): number | null;
}

export function openHistory({ id, past, store, version, scrub, contextWindow }: HistoryOptions): History {
  const state = emptyThread(id);
  const view = openView(id, scrub, contextWindow);
  const facts = newFacts(version);
  const add = (stored: StoredRecord): Notice[] => {
    noteFacts(facts, stored);
    return view.apply(stored);
  };
  for (const stored of past) {
    apply(state, stored);
    add(stored);
  }
  return {
    state,
    view,
    facts,
    add,
    async catchUp(onNotices) {
      if (state.seq === 0) return;
      store.claim(id);
      for await (const batch of store.read(id, state.seq)) {
        for (const stored of batch) {
          apply(state, stored);
          onNotices(add(stored));
        }
      }
    },
  };
}
