// Asks the host what an event does not say and a decision needs: changed paths, forks, rights of people, logs. Outside of
// transactions, each event once, and only where something of the team depends on the answer.
import { type Queries, teamKey } from "../../foundation/index.ts";
import { type CommitRange, type FailedCheck, type Inquiries, RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { findPull } from "./agent-pulls.ts";
import type { CausedEvent } from "./cause.ts";
import { type EventFacts, storeFacts } from "./facts.ts";
import { isFailing } from "./judge-fix.ts";
import { type GithubTrigger, matchEvent } from "./match.ts";
import { isAddressed } from "./mention-text.ts";

export interface Question {
  eventId: string;
  teamId: number;
  repositoryUrl: string;
  change: CommitRange | { pullRequest: number } | null;
  /** Whether it is of a fork. */
  pullRequest: number | null;
  /** What this account may do. */
  login: string | null;
  failed: FailedCheck | null;
}

export interface PreparedEvent extends CausedEvent {
  /** Of the delivery. */
  eventId: string;
  triggers: GithubTrigger[];
}

/** Null where the event says all that is needed. */
export async function questionOf(host: AutomationHost, tx: Queries, prepared: PreparedEvent): Promise<Question | null> {
  const { eventId, source, event } = prepared;
  const question = {
    ...{ eventId, teamId: source.team_id, repositoryUrl: event.repositoryUrl },
    ...{ change: changeOf(prepared), pullRequest: null, login: null, failed: null },
  };
  const asked = source.type === "git_host" ? question : { ...question, ...(await askedOfOutside(host, tx, prepared)) };
  const { change, pullRequest, login, failed } = asked;
  return (change ?? pullRequest ?? login ?? failed) ? asked : null;
}

async function askedOfOutside(host: AutomationHost, tx: Queries, { source, event, triggers }: PreparedEvent) {
  const { pullRequest, sender } = event;
  const addressed = isAddressed(host, event);
  const isUseful = addressed || triggers.some((trigger) => matchEvent(trigger, event).kind !== "other");
  const isUnknown = pullRequest !== null && pullRequest.isFork === null && pullRequest.number > 0;
  return {
    pullRequest: isUnknown && isUseful ? pullRequest.number : null,
    login: addressed && sender && !sender.isBot ? sender.login : null,
    failed: (await hasFailedPull(host, tx, { source, event })) ? event.failed : null,
  };
}

const hasFailedPull = async (host: AutomationHost, tx: Queries, { source, event }: CausedEvent): Promise<boolean> =>
  event.failed !== null &&
  isFailing(event.conclusion) &&
  event.pullRequest?.isFork !== true &&
  (await findPull(host, tx, { source, event, by: { branch: event.branch ?? "" } })) !== null;

function changeOf({ event, triggers }: PreparedEvent): Question["change"] {
  const depends = ({ paths = [], ...trigger }: GithubTrigger) =>
    paths.length > 0 && matchEvent(trigger, event).kind !== "other";
  if (event.paths !== null || event.pullRequest?.isFork === true || !triggers.some(depends)) return null;
  if (event.range !== null) return event.range;
  const number = event.pullRequest?.number ?? 0;
  return number > 0 ? { pullRequest: number } : null;
}

const timeoutMs = 10_000;
const maxConcurrent = 5;

/** A host that does not answer has said so: the events are processed with that. */
export async function askQuestions(host: AutomationHost, questions: Question[]): Promise<void> {
  const waiting = [...questions];
  const work = async () => {
    for (let question = waiting.shift(); question; question = waiting.shift()) await askOne(host, question);
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, questions.length) }, work));
}

async function askOne(host: AutomationHost, question: Question): Promise<void> {
  const { db, vault } = host.platform;
  const facts = await factsFor(host, question, AbortSignal.timeout(timeoutMs));
  await storeFacts(db, await teamKey(db, vault, question.teamId), { id: question.eventId, facts });
}

async function factsFor(host: AutomationHost, question: Question, signal: AbortSignal): Promise<EventFacts> {
  try {
    const { inquiries } = await host.sources.open(question.teamId, question.repositoryUrl);
    return inquiries === null ? {} : await readAnswers(inquiries, question, signal);
  } catch (error) {
    return { failure: failureOf(host, error) };
  }
  async function readAnswers(from: Inquiries, { change, pullRequest, login, failed }: Question, until: AbortSignal) {
    const failures: string[] = [];
    const answer = <T>(work: Promise<T>): Promise<T | undefined> =>
      work.catch((error: unknown) => void failures.push(failureOf(host, error)));
    const paths = change && (await answer(from.changedPaths(change, until)));
    const pull = pullRequest === null ? null : await answer(from.pullRequest(pullRequest, until));
    const permission = login === null ? null : await answer(from.permission(login, until));
    const log = failed && (await answer(from.failedLog(failed, until)));
    return {
      ...(change && paths !== undefined && { paths: paths ?? ("too many" as const) }),
      ...(pull && { pull }),
      ...(permission && { permission }),
      ...(log && { log }),
      ...(failures.length > 0 && { failure: failures.join(" ") }),
    };
  }
}

function failureOf({ platform: { log } }: AutomationHost, error: unknown): string {
  if (error instanceof RepositoryFault) return error.message;
  if (error instanceof Error && error.name === "TimeoutError") return "The host did not answer in time.";
  log.error("automations.host_not_asked", error);
  return "The host could not be asked.";
}
