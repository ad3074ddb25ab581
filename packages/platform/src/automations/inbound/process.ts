// Turns received events into firings, one event after another. Safe to repeat: a firing is made once per delivery.
import { type CauseLink, isDatabaseAway, type Queries, teamKey } from "../../foundation/index.ts";
import { openDefinition } from "../definition.ts";
import { recordFiring } from "../firings/fire.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { inTurns } from "../turns.ts";
import { variablesOf } from "../variables.ts";
import type { Part } from "../work.ts";
import { findCauses, loopOf } from "./cause.ts";
import { applyFix } from "./ci-fix.ts";
import { readGithubEvent, type SourceEvent } from "./github.ts";
import { type GithubTrigger, matchEvent } from "./match.ts";
import {
  bodyAad,
  type EventSourceRow,
  type InboundEventRow,
  lockReceived,
  recallFork,
  rememberFork,
  settleEvent,
} from "./store.ts";
import { keepForSubscribers } from "./subscribers.ts";

export const inboundPart = (host: AutomationHost): Part => ({
  failure: "automations.events_not_processed",
  dueAt: ({ events }) => events,
  work: () => processEvents(host),
});

/** All that wait. The firings are started by the scheduler. */
export async function processEvents(host: AutomationHost): Promise<void> {
  await inTurns((excluded) => processNext(host, excluded));
}

/** Its source. An event that cannot be processed is left, so that those behind it do not wait for it. */
async function processNext(host: AutomationHost, excluded: string[]): Promise<string | null> {
  const { db, log } = host.platform;
  let received: InboundEventRow | undefined;
  try {
    return await db.transaction().execute(async (tx) => {
      received = await lockReceived(tx, excluded);
      if (!received) return null;
      await processOne(host, tx, received);
      return received.source_id;
    });
  } catch (error) {
    if (received === undefined || isDatabaseAway(error)) throw error;
    log.error("automations.event_failed", error, { eventId: received.id });
    await settleEvent(db, received.id, { status: "failed", firings: 0 });
    return received.source_id;
  }
}

async function processOne(host: AutomationHost, tx: Queries, row: InboundEventRow): Promise<void> {
  const source = await tx
    .selectFrom("event_sources")
    .selectAll()
    .where("id", "=", row.source_id)
    .executeTakeFirstOrThrow();
  const body = (await teamKey(tx, host.platform.vault, source.team_id))
    .open(row.body, bodyAad(row.id))
    .toString("utf8");
  let firings = 0;
  for (const read of readGithubEvent(row.name, JSON.parse(body))) {
    const event = source.type === "git_host" ? ofOwnHost(host, read) : await withFork(tx, source.id, read);
    const causes = await findCauses(host, tx, { source, event });
    await keepForSubscribers(host, tx, { eventId: row.id, source, event, causes });
    await applyFix(host, tx, { eventId: row.id, sourceId: source.id, source, event, causes });
    for (const candidate of await findCandidates(host, tx, { source, event }))
      firings += await fireOne(host, tx, { ...candidate, row, source, event, causes, body: beginningOf(body) });
  }
  await settleEvent(tx, row.id, { status: "processed", firings });
}

/** It has no forks. Whatever address it was recorded with, it is compared by the one of today. */
export const ofOwnHost = (
  { shownRepository }: AutomationHost,
  { repositoryUrl, pullRequest, ...event }: SourceEvent,
) => ({
  ...event,
  repositoryUrl: shownRepository(repositoryUrl),
  pullRequest: pullRequest && { ...pullRequest, isFork: false },
});

async function withFork(tx: Queries, sourceId: string, event: SourceEvent): Promise<SourceEvent> {
  await rememberFork(tx, sourceId, event);
  return recallFork(tx, sourceId, event);
}

const hostNames: Record<EventSourceRow["type"], string> = {
  github: "GitHub",
  git_host: "the git host of this platform",
};

/** For people. */
export const originOf = ({ type }: Pick<EventSourceRow, "type">, { event, repositoryUrl }: SourceEvent): string =>
  `${hostNames[type]}, ${event} in ${repositoryUrl}`;

/** As much as the body of a webhook may have: models could not read more. */
const maxCharacters = 256 * 1024;

export const beginningOf = (body: string): string =>
  body.length <= maxCharacters
    ? body
    : `${body.slice(0, maxCharacters)}\n(cut after ${maxCharacters.toLocaleString("en")} of ${body.length.toLocaleString("en")} characters)`;

interface Candidate {
  automation: AutomationRow;
  trigger: GithubTrigger;
}

/** Automations of the team with a trigger for this event, in whatever repository. */
async function findCandidates(
  { platform, shownRepository }: AutomationHost,
  tx: Queries,
  { source, event }: { source: EventSourceRow; event: SourceEvent },
): Promise<Candidate[]> {
  const rows = await tx
    .selectFrom("automations")
    .selectAll("automations")
    .where("team_id", "=", source.team_id)
    .where("enabled", "=", true)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("automation_triggers")
          .select("automation_triggers.id")
          .whereRef("automation_triggers.automation_id", "=", "automations.id")
          .where("automation_triggers.event", "=", event.event),
      ),
    )
    .orderBy("id")
    .execute();
  const key = await teamKey(tx, platform.vault, source.team_id);
  return rows.flatMap((automation) =>
    openDefinition(key, automation)
      .triggers.filter((trigger): trigger is GithubTrigger => trigger.type === "github")
      .map((trigger) => ({ automation, trigger: { ...trigger, repos: trigger.repos.map(shownRepository) } })),
  );
}

interface Fired extends Candidate {
  row: InboundEventRow;
  source: EventSourceRow;
  event: SourceEvent;
  causes: CauseLink[];
  body: string;
}

/** How many firings it recorded: of several triggers of one automation that match, the first counts. */
async function fireOne(host: AutomationHost, tx: Queries, fired: Fired): Promise<number> {
  const { automation, trigger, row, source, event, causes, body } = fired;
  const match = matchEvent(trigger, event);
  if (match.kind === "other") return 0;
  const reason = match.kind === "refused" ? match.reason : loopOf(causes, automation.id);
  const origin = originOf(source, event);
  const about = { origin, contentType: "application/json", receivedAt: row.created_at.toISOString() };
  const payload = { ...about, body, variables: variablesOf(event) };
  const [cause] = causes;
  const request = { source: source.type, triggerId: trigger.id, payload, skipReason: reason } as const;
  const options = {
    db: tx,
    dedupeKey: `${source.type} ${row.source_id} ${row.delivery_id}`,
    causeId: cause?.firingId ?? null,
    causes,
  };
  return (await recordFiring(host, automation, { ...request, ...options })) ? 1 : 0;
}
