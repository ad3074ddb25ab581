// The threads that are loaded: opened when first needed, closed when unwatched for a while or when the server ends.
import type { RunOptions } from "@agentcli/host";
import { forkRecords } from "@agentcli/host/session-files";
import { findSessionPath, newId, openStore } from "@agentcli/host/sessions";
import { type Host, invalidRequest } from "../method.ts";
import type { ChildThread } from "./child-thread.ts";
import type { Instructions } from "./instructions.ts";
import { type OwnThread, type OwnThreadRequest, openOwnThread } from "./own-thread.ts";
import { unknownThread } from "./refusals.ts";
import { type SettingsChange, withChange } from "./settings-change.ts";

export interface ThreadTable {
  /** Null for one that is not loaded. */
  find(id: string): OwnThread | ChildThread | null;
  /** Loaded if need be. A thread that is driven by its parent is refused. */
  own(id: string): Promise<OwnThread>;
  open(request: ThreadRequest): Promise<OwnThread>;
  loaded(): string[];
  unload(id: string): Promise<void>;
  close(): Promise<void>;
}

export type ThreadRequest = { change: SettingsChange; instructions: Instructions } & (
  | { kind: "new"; ephemeral: boolean }
  | { kind: "resumed"; id: string }
  | { kind: "forked"; ephemeral: boolean; past: OwnThreadRequest["past"]; lastTurnId: string | undefined }
);

/** As the public counterpart has it. */
const unwatchedTimeoutMs = 30 * 60 * 1000;

// Over 60 lines because all of it works on one private table of threads.
export function openTable({ program, agent }: Pick<Host, "program" | "agent">): ThreadTable {
  const threads = new Map<string, OwnThread | ChildThread>();
  /** A thread is loaded once, however many ask for it at the same time. */
  const opening = new Map<string, Promise<OwnThread>>();
  const timers = new Map<string, NodeJS.Timeout>();
  const base: RunOptions = { ...agent.runs.options(), skipGitCheck: true };
  const { agentHome } = program.environment;

  async function open(request: ThreadRequest): Promise<OwnThread> {
    const id = request.kind === "resumed" ? request.id : newId(Date.now());
    const ephemeral = request.kind !== "resumed" && request.ephemeral;
    const options = withChange({ ...base, ephemeral }, request.change);
    const store = openStore(options, agentHome);
    const { instructions } = request;
    try {
      const past = pastOf(request, id, store);
      const thread = await openOwnThread(
        { id, options, instructions, store, past },
        { program, agent, register, onUnwatched },
      );
      threads.set(id, thread);
      return thread;
    } catch (error) {
      store.close();
      // A record that is JSON but not what it should be shows only in the fold.
      throw (request.kind === "resumed" && (await store.findDamage(id))) || error;
    }
  }

  function register(child: ChildThread): void {
    threads.set(child.id, child);
  }

  function onUnwatched(id: string): void {
    clearTimeout(timers.get(id));
    timers.set(id, setTimeout(() => void closeUnwatched(id), unwatchedTimeoutMs).unref());
  }

  async function closeUnwatched(id: string): Promise<void> {
    const thread = threads.get(id);
    if (thread?.kind !== "own" || thread.turn() || thread.audience.members().length > 0) return;
    await unload(id);
  }

  async function unload(id: string): Promise<void> {
    const thread = threads.get(id);
    threads.delete(id);
    clearTimeout(timers.get(id));
    timers.delete(id);
    if (thread?.kind !== "own") return;
    await thread.close();
    for (const other of [...threads.values()])
      if (other.kind === "child" && other.rootId === id) threads.delete(other.id);
    thread.audience.notify([
      { method: "thread/status/changed", params: { threadId: id, status: { type: "notLoaded" } } },
      { method: "thread/closed", params: { threadId: id } },
    ]);
  }

  function load(id: string, request: ThreadRequest): Promise<OwnThread> {
    const known = opening.get(id) ?? open(request).finally(() => opening.delete(id));
    opening.set(id, known);
    return known;
  }

  return {
    find: (id) => threads.get(id) ?? null,
    async own(id) {
      const thread = threads.get(id);
      if (thread?.kind === "own") return thread;
      if (thread) throw carriedByParent(id);
      return load(id, { kind: "resumed", id, change: {}, instructions: {} });
    },
    open: (request) => (request.kind === "resumed" ? load(request.id, request) : open(request)),
    loaded: () => [...threads.keys()],
    unload,
    async close() {
      await Promise.allSettled(opening.values());
      await Promise.all([...threads.keys()].map(unload));
    },
  };

  function pastOf(request: ThreadRequest, id: string, store: OwnThreadRequest["store"]): OwnThreadRequest["past"] {
    if (request.kind === "new") return [];
    if (request.kind === "forked") {
      const past = forkRecords(request.past, { threadId: id, lastTurnId: request.lastTurnId });
      store.begin(id, past);
      store.close();
      return past;
    }
    if (!isThreadId(id) || !findSessionPath(agentHome, id)) throw unknownThread(id);
    const past = store.readNow(id);
    if (past[0]?.record.type !== "thread.created") throw invalidRequest(`thread ${id} is empty or damaged`);
    return past;
  }
}

/** Files are found by how their names end: a part of an id must not find one. */
export const isThreadId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const carriedByParent = (id: string): Error =>
  invalidRequest(`thread ${id} is a sub-agent and is driven by its parent`);
