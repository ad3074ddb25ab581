// A thread as clients know it while it is loaded: what it is, what has happened in it, and who hears of it.
import { type ThreadView, threadView } from "@agentcli/engine/app-server";
import type { RecordOf } from "@agentcli/protocol";
import type { SessionSource, Thread, Turn } from "@agentcli/protocol/app-server";
import { findRepositoryRoot, type Head, readHead } from "@agentcli/workspace";
import type { Audience } from "./audience.ts";

export interface LiveThread {
  readonly id: string;
  readonly view: ThreadView;
  readonly audience: Audience;
  describe(turns: "with turns" | "without turns"): Thread;
}

/** What a thread was made with, as far as clients are told. */
export interface Origin {
  parentId?: string | undefined;
  role?: string | undefined;
  forkedFrom?: string | undefined;
  createdAtMs: number;
  version: string;
}

export const originOf = (created: RecordOf<"thread.created">, at: string): Origin => ({
  parentId: created.parentId,
  role: created.role,
  forkedFrom: created.forkedFrom,
  createdAtMs: Date.parse(at),
  version: created.program.version,
});

/** How a thread stands at the moment. */
export interface Standing {
  id: string;
  origin: Origin;
  cwd: string;
  provider: string;
  preview: string;
  updatedAtMs: number;
  name: string | null;
  path: string | null;
  ephemeral: boolean;
  status: Thread["status"];
  turns: Turn[];
}

export function wireThread(standing: Standing): Thread {
  const { id, origin, cwd, updatedAtMs } = standing;
  const updatedAt = Math.floor(updatedAtMs / 1000);
  return {
    id,
    sessionId: origin.parentId ?? id,
    forkedFromId: origin.forkedFrom ?? null,
    parentThreadId: origin.parentId ?? null,
    preview: standing.preview,
    ephemeral: standing.ephemeral,
    modelProvider: standing.provider,
    createdAt: Math.floor(origin.createdAtMs / 1000),
    updatedAt,
    recencyAt: updatedAt,
    status: standing.status,
    path: standing.path,
    cwd,
    cliVersion: origin.version,
    source: sourceOf(origin),
    agentNickname: null,
    agentRole: origin.role ?? null,
    gitInfo: gitInfo(cwd),
    name: standing.name,
    turns: standing.turns,
    projectId: null,
  };
}

const sourceOf = ({ parentId, role }: Origin): SessionSource =>
  parentId === undefined
    ? "appServer"
    : { subAgent: { thread_spawn: { parent_thread_id: parentId, depth: 1, agent_role: role ?? null } } };

function gitInfo(cwd: string): Thread["gitInfo"] {
  const root = findRepositoryRoot(cwd);
  if (root === undefined) return null;
  const { branch, commit }: Head = readHead(root);
  return { sha: commit, branch, originUrl: null };
}

/** A turn that nobody carries out any more was interrupted, whatever its log was going to say. */
export const asResting = (turns: Turn[]): Turn[] =>
  turns.map((turn) => (turn.status === "inProgress" ? { ...turn, status: "interrupted" } : turn));

/** `contextWindow` is asked for each time: the model of a thread may be another tomorrow. */
export const openView = (
  threadId: string,
  scrub: (text: string) => string,
  contextWindow: () => number | null = () => null,
): ThreadView => threadView({ threadId, scrub, now: Date.now, contextWindow });
