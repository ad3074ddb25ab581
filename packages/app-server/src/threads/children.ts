// The sub-agents of a thread, each opened when its first record comes.
import { type FileStore, findSessionPath } from "@agentcli/host/sessions";
import type { Program } from "../program.ts";
import type { Audience } from "./audience.ts";
import { type ChildThread, openChildThread } from "./child-thread.ts";

export interface Children {
  areAtWork(): boolean;
  watch(id: string): ChildThread;
}

export interface ChildrenOptions {
  /** The thread they belong to. */
  id: string;
  store: FileStore;
  audience: Audience;
  program: Program;
  register(child: ChildThread): void;
  /** A turn of one of them is over. */
  onRest(): void;
}

export function openChildren({ id, store, audience, program, register, onRest }: ChildrenOptions): Children {
  const { environment, scrub, version } = program;
  const children = new Map<string, ChildThread>();
  const path = (threadId: string) => findSessionPath(environment.agentHome, threadId);
  return {
    areAtWork: () => [...children.values()].some((child) => child.isAtWork()),
    watch(childId) {
      const existing = children.get(childId);
      if (existing) return existing;
      const host = { rootId: id, version, scrub, watchers: audience.members, path, onRest };
      const child = openChildThread(childId, store.readNow(childId), host);
      children.set(childId, child);
      register(child);
      return child;
    },
  };
}
