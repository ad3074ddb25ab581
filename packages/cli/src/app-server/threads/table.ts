// The threads that are loaded: opened when first needed, closed when nobody has cared for a while or the server ends.
import { type RunOptions, runOptions } from "../../run-options.ts";
import { forkRecords } from "../../sessions/fork.ts";
import { findSessionPath } from "../../sessions/paths.ts";
import { openStore } from "../../sessions/store.ts";
import { newId } from "../../sessions/thread-id.ts";
import { type Host, invalidRequest } from "../method.ts";
import type { ChildThread } from "./child-thread.ts";
import type { Instructions } from "./instructions.ts";
import { type OwnThread, type OwnThreadRequest, openOwnThread } from "./own-thread.ts";
import { unknownThread } from "./refusals.ts";
import { type Wish, withWish } from "./wishes.ts";

export interface ThreadTable {
  /** Null for one that is not loaded. */
  find(id: string): OwnThread | ChildThread | null;
  /** Loaded if need be. A thread that is carried out by its parent is refused. */
  own(id: string): Promise<OwnThread>;
  open(request: ThreadRequest): Promise<OwnThread>;
  loaded(): string[];
  unload(id: string): Promise<void>;
  close(): Promise<void>;
}

export type ThreadRequest = { wish: Wish; instructions: Instructions } & (
  | { kind: "new"; ephemeral: boolean }
  | { kind: "resumed"; id: string }
  | { kind: "forked"; ephemeral: boolean; past: OwnThreadRequest["past"]; lastTurnId: string | undefined }
);

/** As the public counterpart has it. */
const forsakenMs = 30 * 60 * 1000;

// Over 60 lines because all of it works on one table of threads that nobody else may touch.
export function openTable({ program, invocation }: Pick<Host, "program" | "invocation">): ThreadTable {
  const threads = new Map<string, OwnThread | ChildThread>();
  /** A thread is loaded once, however many ask for it at the same time. */
  const opening = new Map<string, Promise<OwnThread>>();
  const timers = new Map<string, NodeJS.Timeout>();
  const base: RunOptions = { ...runOptions(invocation), skipGitCheck: true };
  const { agentHome } = program.environment;

  async function open(request: ThreadRequest): Promise<OwnThread> {
    const id = request.kind === "resumed" ? request.id : newId(Date.now());
    const ephemeral = request.kind !== "resumed" && request.ephemeral;
    const options = withWish({ ...base, ephemeral }, request.wish);
    const store = openStore(options, agentHome);
    const { instructions } = request;
    try {
      const past = pastOf(request, id, store);
      const thread = await openOwnThread({ id, options, instructions, store, past }, { program, adopt, onForsaken });
      threads.set(id, thread);
      return thread;
    } catch (error) {
      store.close();
      // A record that is JSON but not what it should be shows only in the fold.
      throw (request.kind === "resumed" && (await store.findDamage(id))) || error;
    }
  }

  function adopt(child: ChildThread): void {
    threads.set(child.id, child);
  }

  function onForsaken(id: string): void {
    clearTimeout(timers.get(id));
    timers.set(id, setTimeout(() => void leaveForsaken(id), forsakenMs).unref());
  }

  async function leaveForsaken(id: string): Promise<void> {
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
    thread.audience.tell([
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
      return load(id, { kind: "resumed", id, wish: {}, instructions: {} });
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
      store.adopt(id, past);
      store.close();
      return past;
    }
    if (!isThreadId(id) || !findSessionPath(agentHome, id)) throw unknownThread(id);
    return store.readNow(id);
  }
}

/** Files are found by how their names end: a part of an id must not find one. */
export const isThreadId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const carriedByParent = (id: string): Error =>
  invalidRequest(`thread ${id} is a sub-agent and is carried out by its parent`);
