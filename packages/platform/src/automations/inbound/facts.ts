// What the host has answered about an event, stored with it: each question is asked once, and a dry run asks nothing.
import type { DataKey, Queries } from "../../foundation/index.ts";
import type { Branches, RepositoryPermission } from "../../repositories/index.ts";
import type { SourceEvent } from "./github.ts";

/** A member is absent where it was not asked for, or not answered. */
export interface EventFacts {
  paths?: string[] | "too many";
  pull?: Branches & { isFork: boolean };
  permission?: RepositoryPermission;
  log?: string;
  /** Why the host did not answer. */
  failure?: string;
}

const factsAad = (eventId: string): string => `inbound-facts:${eventId}`;

/** Null: the host was not asked. */
export const openFacts = (key: DataKey, { id, facts }: { id: string; facts: Buffer | null }): EventFacts | null =>
  facts && JSON.parse(key.openText(facts, factsAad(id)));

export async function storeFacts(
  db: Queries,
  key: DataKey,
  { id, facts }: { id: string; facts: EventFacts },
): Promise<void> {
  const sealed = key.seal(JSON.stringify(facts), factsAad(id));
  await db.updateTable("inbound_events").set({ facts: sealed }).where("id", "=", id).execute();
}

export function withFacts(event: SourceEvent, facts: EventFacts | null): SourceEvent {
  if (facts === null) return event;
  const { paths = event.paths, pull, permission = null, log = null, failure = null } = facts;
  const { pullRequest } = event;
  const known = pull && pullRequest && { ...pullRequest, isFork: pull.isFork, headBranch: pull.head };
  return {
    ...{ ...event, paths, permission, log, failure },
    ...(known && { pullRequest: known, branch: event.branch ?? pull?.base ?? null }),
  };
}
