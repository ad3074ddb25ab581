// A sub-agent's thread: driven by its parent, watched like any other.
import type { StoredRecord, SubagentObserver } from "@agentcli/engine";
import type { Client } from "../method.ts";
import { openAudience } from "./audience.ts";
import { newFacts, noteFacts } from "./facts.ts";
import { asResting, type LiveThread, openView, wireThread } from "./live.ts";

export interface ChildThread extends LiveThread, SubagentObserver {
  readonly kind: "child";
  /** The thread all of it belongs to. */
  readonly rootId: string;
  isAtWork(): boolean;
}

export interface ChildHost {
  rootId: string;
  version: string;
  scrub(text: string): string;
  /** Clients that watch it from the start: those of the parent. */
  watchers(): Client[];
  path(threadId: string): string | null;
  /** Its turn is over. */
  onRest(): void;
}

/** `past` is what it did under an earlier run of the program. */
export function openChildThread(id: string, past: StoredRecord[], host: ChildHost): ChildThread {
  const view = openView(id, host.scrub);
  const facts = newFacts(host.version);
  const audience = openAudience(() => {});
  for (const stored of past) take(stored);
  for (const client of host.watchers()) audience.join(client)();

  function take(stored: StoredRecord) {
    noteFacts(facts, stored);
    return view.apply(stored);
  }

  const isAtWork = () => view.status().type === "active";
  const child: ChildThread = {
    kind: "child",
    rootId: host.rootId,
    id,
    view,
    audience,
    isAtWork,
    describe: (turns) =>
      wireThread({
        ...facts,
        id,
        name: null,
        path: host.path(id),
        ephemeral: host.path(id) === null,
        status: view.status(),
        turns: turns === "without turns" ? [] : isAtWork() ? view.turns() : asResting(view.turns()),
      }),
    async emit(stored) {
      const notices = take(stored);
      if (stored.record.type === "thread.created")
        audience.notify([{ method: "thread/started", params: { thread: child.describe("without turns") } }]);
      audience.notify(notices);
      if (stored.record.type === "turn.ended") host.onRest();
      await audience.room();
    },
    onProgress: (progress) => audience.notify(view.progress(progress)),
  };
  return child;
}
