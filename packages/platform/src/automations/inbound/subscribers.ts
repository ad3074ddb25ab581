// Finds the subscriptions that an event of a source host is for, and keeps the event for their agents.
import { type CauseLink, type Queries, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { endSubscription, insertEvent, noteSkipped, openFilter, type StoredFilter } from "../subscriptions/store.ts";
import { agentBehind, type CausedEvent, loopOfWakeUps } from "./cause.ts";
import type { SourceEvent } from "./github.ts";
import { sameRepository } from "./match.ts";

export interface SubscribedEvent {
  /** Of the delivery. */
  eventId: string;
  source: CausedEvent["source"];
  event: SourceEvent;
  /** The nearest first. */
  causes: CauseLink[];
}

export async function keepForSubscribers(
  host: AutomationHost,
  tx: Queries,
  { eventId, source, event, causes }: SubscribedEvent,
): Promise<void> {
  const teamId = source.team_id;
  const rows = await tx
    .selectFrom("subscriptions")
    .selectAll()
    .where("team_id", "=", teamId)
    .where("status", "=", "active")
    .where("source", "=", "source_host")
    .execute();
  if (rows.length === 0) return;
  const context = { db: tx, key: await teamKey(tx, host.platform.vault, teamId), now: host.now() };
  const loop = loopOfWakeUps(causes, event);
  for (const row of rows) {
    const filter = openFilter(context.key, row);
    const isOwn = agentBehind({ source, event }) === row.agent_id;
    if (filter.source !== "source_host" || isOwn || !isFor(filter, event, host.shownRepository)) continue;
    if (loop === null) {
      const entry = describeEvent(event);
      await insertEvent(context, { subscription: row, eventId: `${eventId} ${event.event}`, entry, causes });
    } else await noteSkipped(context, row.id, loop);
    if (event.event === "pull_request.merged" && filter.pullRequest !== undefined)
      await endSubscription(tx, { id: row.id, agentId: row.agent_id }, { status: "done", reason: "It was merged." });
  }
}

const kinds: Partial<Record<SourceEvent["event"], "comments" | "reviews" | "checks" | "merges">> = {
  "pull_request.comment": "comments",
  review_comment: "comments",
  "review.submitted": "reviews",
  "review_thread.updated": "reviews",
  "check.completed": "checks",
  "workflow_run.completed": "checks",
  "pull_request.merged": "merges",
};

type HostFilter = Extract<StoredFilter, { source: "source_host" }>;

function isFor(filter: HostFilter, event: SourceEvent, shown: AutomationHost["shownRepository"]): boolean {
  const kind = kinds[event.event];
  if (kind === undefined || (kind !== "merges" && !filter.events.includes(kind))) return false;
  if (!sameRepository(shown(filter.repoUrl), event.repositoryUrl)) return false;
  // Anyone can open a pull request of a fork, and write there.
  if (event.pullRequest?.isFork !== false && event.pullRequest !== null) return false;
  if (kind === "checks") return filter.headBranch === undefined || event.branch === filter.headBranch;
  return filter.pullRequest === undefined || event.pullRequest?.number === filter.pullRequest;
}

const maxTextLength = 8_000;

/** What the agent reads of it. */
function describeEvent({ event, repositoryUrl, pullRequest, branch, conclusion, sender, text }: SourceEvent): string {
  return JSON.stringify({
    ...{ event, repository: repositoryUrl },
    ...(pullRequest && pullRequest.number > 0 && { pullRequest: pullRequest.number, url: pullRequest.url }),
    ...(branch !== null && { branch }),
    ...(conclusion !== null && { conclusion }),
    ...(sender && { from: sender.login }),
    text: text.slice(0, maxTextLength),
  });
}
