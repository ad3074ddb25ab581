// The cause chain of an event: which agent led to it, and what had started or woken that one. It ends loops of agents.
import type { CauseLink, Queries } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { startedAgents } from "../started-agents.ts";
import type { SourceEvent } from "./github.ts";
import { sameRepository } from "./match.ts";
import type { EventSourceRow } from "./store.ts";

export interface CausedEvent {
  source: Pick<EventSourceRow, "team_id" | "type">;
  event: SourceEvent;
}

/** So many agents may lead to each other. */
export const maxChain = 5;
/** So often an agent is woken by results of checks on what it pushed after the last one. */
export const maxOwnChecks = 10;

/** What a run itself does on the host. Comments, labels and merges are those of people. */
const doneByRuns: SourceEvent["event"][] = [
  "pull_request.draft_opened",
  "pull_request.opened",
  "pull_request.pushed",
  "push",
  "check.completed",
  "workflow_run.completed",
];

/** The nearest cause first; empty for an event that no agent caused. Of this team alone: others may use the same names. */
export async function findCauses(
  host: Pick<AutomationHost, "shownRepository">,
  db: Queries,
  caused: CausedEvent,
): Promise<CauseLink[]> {
  const agentId = agentBehind(caused) ?? (await agentOfBranch(host, db, caused));
  return agentId === null ? [] : causesOf(db, caused.source.team_id, agentId);
}

/** The agent, and what led to its latest run. A person who sent a follow-up ends the chain. */
async function causesOf(db: Queries, teamId: number, agentId: string): Promise<CauseLink[]> {
  const firing = await db
    .selectFrom(startedAgents(db))
    .innerJoin("automations", "automations.id", "started.automation_id")
    .select(["started.firing_id as id", "started.causes", "automations.id as automationId", "automations.name"])
    .where("started.agent_id", "=", agentId)
    .where("automations.team_id", "=", teamId)
    .executeTakeFirst();
  const run = await db
    .selectFrom("agents")
    .innerJoin("runs", "runs.id", "agents.latest_run_id")
    .leftJoin("wake_ups", "wake_ups.id", "runs.request_id")
    .select(["runs.number", "wake_ups.causes"])
    .where("agents.id", "=", agentId)
    .where("agents.team_id", "=", teamId)
    .executeTakeFirst();
  if (!firing && !run) return [];
  const before = run?.causes ?? (run === undefined || run.number === 1 ? firing?.causes : null) ?? [];
  const link = firing
    ? { agentId, firingId: firing.id, automationId: firing.automationId, name: firing.name }
    : { agentId, firingId: null, automationId: null, name: `agent ${agentId}` };
  return [link, ...before].slice(0, maxOwnChecks + 1);
}

/** The agent that pushed the branch which the event is about. */
async function agentOfBranch(
  { shownRepository }: Pick<AutomationHost, "shownRepository">,
  db: Queries,
  { source, event }: CausedEvent,
): Promise<string | null> {
  const branch = event.pullRequest?.headBranch ?? event.branch;
  if (branch === null || !doneByRuns.includes(event.event)) return null;
  const rows = await db
    .selectFrom("handoffs")
    .innerJoin("agents", "agents.id", "handoffs.agent_id")
    .select(["handoffs.agent_id", "handoffs.repo_url"])
    .where("agents.team_id", "=", source.team_id)
    .where("handoffs.branch", "=", branch)
    .execute();
  return rows.find(({ repo_url }) => isOf(event, repo_url, shownRepository))?.agent_id ?? null;
}

/** Stored without its scheme. */
export const isOf = (
  { repositoryUrl }: Pick<SourceEvent, "repositoryUrl">,
  url: string,
  shown: AutomationHost["shownRepository"],
): boolean =>
  [url, shown(`http://${url}`), shown(`https://${url}`)].some((address) => sameRepository(address, repositoryUrl));

/** Which agent did it, such as one that commented: the embedded host names it, on others it marks what it writes. */
export function agentBehind({ source, event }: CausedEvent): string | null {
  const [, agentId = null] =
    source.type === "git_host"
      ? (/^agent:(.+)$/.exec(event.sender?.login ?? "") ?? [])
      : (/<!-{2} agent:([\w.-]{1,200}) -{2}>\s*$/.exec(event.text) ?? []);
  return agentId;
}

const comments: SourceEvent["event"][] = ["pull_request.comment", "issue.comment", "review_comment"];

/** What the platform itself commented, such as the state of an automatic fix: it starts, wakes and ends nothing. */
export function isOwnComment({ source, event }: CausedEvent): boolean {
  if (!comments.includes(event.event)) return false;
  if (source.type === "git_host") return event.sender?.login === "platform";
  return event.sender?.isBot === true && /<!-{2} platform -{2}>\s*$/.test(event.text);
}

const named = (chain: CauseLink[]): string =>
  chain.map(({ name, firingId }) => (firingId === null ? name : `${name} (${firingId})`)).join(", caused by ");

/** Why the automation must not start; null where it may. */
export function loopOf(chain: CauseLink[], automationId: string): string | null {
  if (chain.some((link) => link.automationId === automationId)) return `It caused this event itself: ${named(chain)}.`;
  if (chain.length >= maxChain) return `${maxChain} automations in a row caused each other: ${named(chain)}.`;
  return null;
}

/** Why an agent is not woken; null where it is. Results of checks on its own work may wake it more often. */
export function loopOfWakeUps(chain: CauseLink[], { event }: Pick<SourceEvent, "event">): string | null {
  const isCheck = event === "check.completed" || event === "workflow_run.completed";
  const limit = isCheck ? maxOwnChecks : maxChain;
  if (chain.length < limit) return null;
  return `${limit} agents in a row woke each other, and no person in between: ${named(chain.slice(0, limit))}.`;
}
