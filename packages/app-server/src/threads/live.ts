// A thread as clients know it while it is loaded: its metadata, its history and its clients.
import type { RecordOf } from "@agentcli/protocol";
import type { SessionSource, Thread, Turn } from "@agentcli/protocol/app-server";
import { type ThreadView, threadView } from "@agentcli/surfaces/app-server";
import { findRepositoryRoot, type GitHead, readHead } from "@agentcli/workspace";
import type { Audience } from "./audience.ts";

export interface LiveThread {
  readonly id: string;
  readonly view: ThreadView;
  readonly audience: Audience;
  describe(turns: "with turns" | "without turns"): Thread;
}

/** What a thread was created with, as far as clients see it. */
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

/** The current status of a thread. */
export interface ThreadStatus {
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

export function wireThread(status: ThreadStatus): Thread {
  const { id, origin, cwd, updatedAtMs } = status;
  const updatedAt = Math.floor(updatedAtMs / 1000);
  return {
    id,
    sessionId: origin.parentId ?? id,
    forkedFromId: origin.forkedFrom ?? null,
    parentThreadId: origin.parentId ?? null,
    preview: status.preview,
    ephemeral: status.ephemeral,
    modelProvider: status.provider,
    createdAt: Math.floor(origin.createdAtMs / 1000),
    updatedAt,
    recencyAt: updatedAt,
    status: status.status,
    path: status.path,
    cwd,
    cliVersion: origin.version,
    source: sourceOf(origin),
    agentNickname: null,
    agentRole: origin.role ?? null,
    gitInfo: gitInfo(cwd),
    name: status.name,
    turns: status.turns,
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
  const { branch, commit }: GitHead = readHead(root);
  return { sha: commit, branch, originUrl: null };
}

/** A turn that is not driven any more was interrupted, even if its log has no end. */
export const asResting = (turns: Turn[]): Turn[] =>
  turns.map((turn) => (turn.status === "inProgress" ? { ...turn, status: "interrupted" } : turn));

/** `contextWindow` is asked for each time: the model of a thread may be another tomorrow. */
export const openView = (
  threadId: string,
  scrub: (text: string) => string,
  contextWindow: () => number | null = () => null,
): ThreadView => threadView({ threadId, scrub, now: Date.now, contextWindow });
