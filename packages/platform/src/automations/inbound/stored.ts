// Judges stored events for an automation: whether it would start, with which payload, and why not. Writes nothing.
import { type Queries, teamKey } from "../../foundation/index.ts";
import { type Definition, openDefinition } from "../definition.ts";
import type { FiringPayload } from "../firings/prompt.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { variablesOf } from "../variables.ts";
import { findCauses, loopOf } from "./cause.ts";
import { openFacts, withFacts } from "./facts.ts";
import { readGithubEvent, type SourceEvent } from "./github.ts";
import { type GithubTrigger, matchEvent } from "./match.ts";
import { beginningOf, ofOwnHost, originOf } from "./process.ts";
import { bodyAad, type EventSourceRow, type InboundEventRow, recallFork } from "./store.ts";

/** An event with the source that it came from. */
export type StoredEventRow = InboundEventRow & Pick<EventSourceRow, "type" | "team_id">;

/** The latest ones of the team, latest first. */
export const readStored = (db: Queries, teamId: number, limit: number): Promise<StoredEventRow[]> =>
  db
    .selectFrom("inbound_events")
    .innerJoin("event_sources", "event_sources.id", "inbound_events.source_id")
    .selectAll("inbound_events")
    .select(["event_sources.type", "event_sources.team_id"])
    .where("event_sources.team_id", "=", teamId)
    .orderBy("inbound_events.created_at", "desc")
    .limit(limit)
    .execute();

interface EventFacts {
  event: string;
  repository: string;
  receivedAt: string;
}

export type Judged =
  | (EventFacts & { outcome: "start"; payload: FiringPayload })
  | (EventFacts & { outcome: "skip"; reason: string })
  /** No trigger is for it. */
  | { outcome: "none"; event: string; receivedAt: string };

/** A delivery about several branches starts one run: the first that a trigger wants counts. */
export async function judgeStored(
  host: AutomationHost,
  automation: AutomationRow,
  row: StoredEventRow,
): Promise<Judged> {
  const { db, vault } = host.platform;
  const key = await teamKey(db, vault, automation.team_id);
  const definition = openDefinition(key, automation);
  const source = { id: row.source_id, type: row.type, team_id: row.team_id };
  const body = key.open(row.body, bodyAad(row.id)).toString("utf8");
  const receivedAt = row.created_at.toISOString();
  for (const read of readGithubEvent(row.name, JSON.parse(body))) {
    const known = source.type === "git_host" ? ofOwnHost(host, read) : await recallFork(db, source.id, read);
    // Nothing is asked: what the host has answered before is known.
    const event = withFacts(known, openFacts(key, row));
    const judged = await judgeOne(host, { automation, definition }, { source, event, body, receivedAt });
    if (judged !== null) return judged;
  }
  return { outcome: "none", event: row.name, receivedAt };
}

interface StoredEvent {
  source: Pick<EventSourceRow, "id" | "type" | "team_id">;
  event: SourceEvent;
  body: string;
  receivedAt: string;
}

/** Null: no trigger wants it. Of several that do, the first counts. */
async function judgeOne(
  host: AutomationHost,
  { automation, definition }: { automation: AutomationRow; definition: Definition },
  { source, event, body, receivedAt }: StoredEvent,
): Promise<Judged | null> {
  const matches = definition.triggers
    .filter((trigger): trigger is GithubTrigger => trigger.type === "github")
    .map((trigger) => matchEvent({ ...trigger, repos: trigger.repos.map(host.shownRepository) }, event));
  const match = matches.find(({ kind }) => kind !== "other");
  if (match === undefined || match.kind === "other") return null;
  const about = { event: event.event, repository: event.repositoryUrl, receivedAt };
  const causes = await findCauses(host, host.platform.db, { source, event });
  const reason = match.kind === "refused" ? match.reason : loopOf(causes, automation.id);
  if (reason !== null) return { ...about, outcome: "skip", reason };
  const payload = {
    origin: originOf(source, event),
    contentType: "application/json",
    receivedAt,
    body: beginningOf(body),
    variables: variablesOf(event),
  };
  return { ...about, outcome: "start", payload };
}
