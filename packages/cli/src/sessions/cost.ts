// Adds up what sessions cost, by model, tag or day. A request counts once, however many forks repeat it.
import { listSessionPaths } from "@agentcli/host/sessions";
import type { Tags } from "@agentcli/protocol";
import { type Charge, readCharges, type SessionCharges } from "./charges.ts";
import { changedMs } from "./list.ts";

export type Grouping = "model" | "tag" | "day";

export interface Sum {
  requests: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
  /** Of the requests whose price was known. */
  knownCostUsd: number;
  unpricedRequests: number;
}

export interface CostReport {
  /** In order: days by date, the rest by cost. A request with two tags is in both of their groups. */
  groups: { name: string; sum: Sum }[];
  total: Sum;
  /** What could not be read, as sentences. */
  problems: string[];
}

export function addUp(home: string, sinceMs: number, by: Grouping): CostReport {
  const { sessions, problems } = readSessions(home, sinceMs);
  const tagsOf = tagsByThread(sessions);
  const groups = new Map<string, Sum>();
  const total = emptySum();
  for (const { session, charge } of chargesSince(sessions, sinceMs)) {
    add(total, charge);
    const tags = session.parentId === null ? charge.tags : tagsOf(session);
    for (const name of namesOf(charge, tags, by)) {
      const sum = groups.get(name) ?? emptySum();
      groups.set(name, sum);
      add(sum, charge);
    }
  }
  const listed = [...groups].map(([name, sum]) => ({ name, sum }));
  return { groups: listed.sort(by === "day" ? byName : byCost), total, problems };
}

/** A file that was last changed before then has nothing newer in it. */
export function isChangedSince(path: string, sinceMs: number): boolean {
  const changed = changedMs(path);
  return changed !== null && changed >= sinceMs;
}

function readSessions(home: string, sinceMs: number): { sessions: SessionCharges[]; problems: string[] } {
  const problems: string[] = [];
  const sessions = listSessionPaths(home).flatMap((path) => {
    if (!isChangedSince(path, sinceMs)) return [];
    try {
      const session = readCharges(path);
      const lines = session.damagedLines;
      if (lines > 0) problems.push(`${path}: ${lines} damaged ${lines === 1 ? "line was" : "lines were"} skipped.`);
      return [session];
    } catch (error) {
      problems.push(`${path} cannot be read: ${(error as Error).message.replace(/\.$/, "")}.`);
      return [];
    }
  });
  return { sessions, problems };
}

/** A fork begins with the turns of another thread: whichever is read first has them. */
function* chargesSince(sessions: SessionCharges[], sinceMs: number) {
  const ownerOf = new Map<string, SessionCharges>();
  for (const session of sessions) {
    for (const charge of session.charges) {
      const owner = ownerOf.get(charge.turnId) ?? session;
      ownerOf.set(charge.turnId, owner);
      if (owner === session && Date.parse(charge.at) >= sinceMs) yield { session, charge };
    }
  }
}

/** What a sub-agent did was done for the thread at the top, and under its tags. */
function tagsByThread(sessions: SessionCharges[]): (session: SessionCharges) => Tags {
  const known = new Map(sessions.map((session) => [session.threadId, session]));
  return (session) => {
    const seen = new Set<SessionCharges>();
    let top = session;
    while (!seen.has(top)) {
      seen.add(top);
      top = known.get(top.parentId ?? "") ?? top;
    }
    return top.tags;
  };
}

function namesOf({ model, at }: Charge, tags: Tags, by: Grouping): string[] {
  switch (by) {
    case "model":
      return [model];
    case "day":
      return [localDay(new Date(at))];
    case "tag": {
      const names = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
      return names.length > 0 ? names : ["(no tag)"];
    }
  }
}

const two = (number: number): string => String(number).padStart(2, "0");
const localDay = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

type Group = CostReport["groups"][number];
const byName = (left: Group, right: Group): number => (left.name < right.name ? -1 : 1);
const byCost = (left: Group, right: Group): number =>
  right.sum.knownCostUsd - left.sum.knownCostUsd || right.sum.inputTokens - left.sum.inputTokens || byName(left, right);

const emptySum = (): Sum => ({
  requests: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  knownCostUsd: 0,
  unpricedRequests: 0,
});

function add(sum: Sum, { usage, costUsd }: Charge): void {
  sum.requests += 1;
  sum.inputTokens += usage.inputTokens;
  sum.cachedInputTokens += usage.cachedInputTokens;
  sum.cacheWriteInputTokens += usage.cacheWriteInputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.reasoningOutputTokens += usage.reasoningOutputTokens ?? 0;
  sum.knownCostUsd += costUsd ?? 0;
  sum.unpricedRequests += costUsd === null ? 1 : 0;
}
