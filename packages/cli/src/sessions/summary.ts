// A session in a few words: what a list shows of it.
import { basename } from "node:path";
import { isLockHeld } from "@agentcli/host";
import type { Scan } from "@agentcli/host/session-files";
import type { RecordOf, Tags } from "@agentcli/protocol";

export type SessionStatus = "completed" | "failed" | "cancelled" | "running" | "interrupted" | "damaged";

export interface SessionSummary {
  id: string;
  path: string;
  name: string | null;
  createdAt: string;
  updatedAt: string;
  cwd: string;
  model: string;
  provider: string;
  status: SessionStatus;
  /** The limit that ended its last turn. */
  limit: string | null;
  /** First words of the first prompt. */
  prompt: string;
  tags: Tags;
  forkedFrom: string | null;
  worktree: string | null;
}

export const threadIdOf = (path: string): string => basename(path, ".jsonl").slice(-36);

export function summarise(path: string, scan: Scan, name: string | null): SessionSummary {
  const { created, createdAt, firstTurn, lastTurn, updatedMs } = scan;
  const { cwd, model, provider } = lastTurn?.settings ?? created.settings;
  return {
    id: created.threadId,
    path,
    name,
    createdAt,
    updatedAt: new Date(updatedMs).toISOString(),
    cwd,
    model,
    provider,
    status: statusOf(path, scan),
    limit: limitOf(scan),
    prompt: firstTurn ? firstWords(firstTurn) : "",
    tags: lastTurn?.tags ?? created.tags ?? {},
    forkedFrom: created.forkedFrom ?? null,
    worktree: created.worktree?.path ?? null,
  };
}

/** A file that does not begin as a session is still listed, so that the user can remove it. */
export const damaged = (path: string, updatedMs: number): SessionSummary => ({
  id: threadIdOf(path),
  path,
  name: null,
  createdAt: new Date(updatedMs).toISOString(),
  updatedAt: new Date(updatedMs).toISOString(),
  cwd: "",
  model: "",
  provider: "",
  status: "damaged",
  limit: null,
  prompt: "",
  tags: {},
  forkedFrom: null,
  worktree: null,
});

function statusOf(path: string, { end }: Scan): SessionStatus {
  if (end) return end.end.status;
  return isLockHeld(`${path}.lock`) ? "running" : "interrupted";
}

const limitOf = ({ end }: Scan): string | null => (end?.end.status === "failed" ? (end.end.limit ?? null) : null);

const maxLength = 80;

function firstWords({ input }: RecordOf<"turn.begun">): string {
  const text = input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  // Control characters would reach the user's terminal.
  const words = text
    .slice(0, maxLength * 4)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const letters = [...words];
  return letters.length > maxLength ? `${letters.slice(0, maxLength - 1).join("")}…` : words;
}
