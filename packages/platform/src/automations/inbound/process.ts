// Turns received events into firings, one event after another. Safe to repeat: a firing is made once per delivery.
import { type CauseLink, type DataKey, isDatabaseAway, type Queries } from "../../foundation/index.ts";
import { openDefinition } from "../definition.ts";
import { recordFiring } from "../firings/fire.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { inTurns } from "../turns.ts";
import { variablesOf } from "../variables.ts";
import type { Part } from "../work.ts";
import { askQuestions, type PreparedEvent, type Question, questionOf } from "./ask.ts";
import { findCauses, isOwnComment, loopOf } from "./cause.ts";
import { applyFix } from "./ci-fix.ts";
import { openFacts, withFacts } from "./facts.ts";
import { readGithubEvent, type SourceEvent } from "./github.ts";
import { type GithubTrigger, matchEvent } from "./match.ts";
import { recordMention } from "./mentions.ts";
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
  for (;;) {
    const questions = new Map<string, Question>();
    await inTurns((excluded) => processNext(host, { sources: excluded, questions }));
    if (questions.size === 0) return;
    await askQuestions(host, [...questions.values()]);
  }
}

/** What the host is asked before the next events. */
const maxQuestions = 50;

interface Pass {
  /** Not in this turn. */
  sources: string[];
  /** By event: they wait until the host has answered. */
  questions: Map<string, Question>;
}

/** Its source. An event that cannot be processed is left, so that those behind it do not wait for it. */
async function processNext(host: AutomationHost, { sources, questions }: Pass): Promise<string | null> {
  const { db, log } = host.platform;
  if (questions.size >= maxQuestions) return null;
  let received: InboundEventRow | undefined;
  try {
    return await db.transaction().execute(async (tx) => {
      received = await lockReceived(tx, { sources, events: [...questions.keys()] });
      if (!received) return null;
      const question = await processOne(host, tx, received);
      if (question) questions.set(received.id, question);
      return received.source_id;
    });
  } catch (error) {
    if (received === undefined || isDatabaseAway(error)) throw error;
    log.error("automations.event_failed", error, { eventId: received.id });
    await settleEvent(db, received.id, { status: "failed", firings: 0 });
    return received.source_id;
  }
}

/** What the host has to be asked first, without any effect; null: it is processed. */
async function processOne(host: AutomationHost, tx: Queries, row: InboundEventRow): Promise<Question | null> {
  const { data_key, ...source } = await tx
    .selectFrom("event_sources")
    .innerJoin("teams", "teams.id", "event_sources.team_id")
    .selectAll("event_sources")
    .select("teams.data_key")
    .where("event_sources.id", "=", row.source_id)
    .executeTakeFirstOrThrow();
  const key = await host.platform.vault.unwrap(data_key);
  const body = key.open(row.body, bodyAad(row.id)).toString("utf8");
  const facts = openFacts(key, row);
  const prepared: (PreparedEvent & { candidates: Candidate[] })[] = [];
  for (const read of readGithubEvent(row.name, JSON.parse(body))) {
    const known = source.type === "git_host" ? ofOwnHost(host, read) : await recallFork(tx, source.id, read);
    const event = withFacts(known, facts);
    const candidates = await findCandidates(host, tx, { source, event, key });
    const triggers = candidates.map(({ trigger }) => trigger);
    const one = { eventId: row.id, source, event, triggers, candidates };
    const question = facts === null ? await questionOf(host, tx, one) : null;
    if (question) return question;
    prepared.push(one);
  }
  let firings = 0;
  for (const { event, candidates } of prepared)
    firings += await applyEvent(host, tx, { row, source, event, candidates, body: beginningOf(body) });
  await settleEvent(tx, row.id, { status: "processed", firings });
  return null;
}

interface AppliedEvent extends Omit<Fired, keyof Candidate | "causes"> {
  candidates: Candidate[];
}

/** How many firings it led to. */
async function applyEvent(host: AutomationHost, tx: Queries, applied: AppliedEvent): Promise<number> {
  const { row, source, event, candidates } = applied;
  if (isOwnComment({ source, event })) return 0;
  if (source.type !== "git_host") await rememberFork(tx, source.id, event);
  const causes = await findCauses(host, tx, { source, event });
  await keepForSubscribers(host, tx, { eventId: row.id, source, event, causes });
  await applyFix(host, tx, { eventId: row.id, sourceId: source.id, source, event, causes });
  await recordMention(host, tx, { eventId: row.id, source, event });
  let firings = 0;
  for (const candidate of candidates) firings += await fireOne(host, tx, { ...applied, ...candidate, causes });
  return firings;
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
  { shownRepository }: AutomationHost,
  tx: Queries,
  { source, event, key }: { source: EventSourceRow; event: SourceEvent; key: DataKey },
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
    recovered: row.via === "poll",
  };
  return (await recordFiring(host, automation, { ...request, ...options })) ? 1 : 0;
}
