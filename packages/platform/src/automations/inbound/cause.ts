// The cause chain of an event: which firing led to it, and which one to that. It ends loops of automations.
import type { Queries } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import type { SourceEvent } from "./github.ts";
import { sameRepository } from "./match.ts";
import type { EventSourceRow } from "./store.ts";

export interface CausedEvent {
  source: Pick<EventSourceRow, "team_id" | "type">;
  event: SourceEvent;
}

export interface CauseLink {
  firingId: string;
  automationId: string;
  name: string;
}

/** So many automations may lead to each other. */
export const maxChain = 5;

/** What a run itself does on the host. Comments, labels and merges are those of people. */
const doneByRuns: SourceEvent["event"][] = [
  "pull_request.draft_opened",
  "pull_request.opened",
  "pull_request.pushed",
  "push",
  "check.completed",
  "workflow_run.completed",
];

/** The nearest cause first; empty for an event that no automation caused. */
export async function findCauses(
  host: Pick<AutomationHost, "shownRepository">,
  db: Queries,
  { source, event }: CausedEvent,
): Promise<CauseLink[]> {
  const chain: CauseLink[] = [];
  const teamId = source.team_id;
  let firingId = (await firingOfSender(db, { source, event })) ?? (await firingBehind(host, db, { source, event }));
  while (firingId !== null && chain.length <= maxChain) {
    const row = await db
      .selectFrom("automation_firings")
      .innerJoin("automations", "automations.id", "automation_firings.automation_id")
      .select([
        "automation_firings.id",
        "automation_firings.cause_id",
        "automations.id as automationId",
        "automations.name",
      ])
      .where("automation_firings.id", "=", firingId)
      .where("automations.team_id", "=", teamId)
      .executeTakeFirst();
    if (row) chain.push({ firingId: row.id, automationId: row.automationId, name: row.name });
    firingId = row?.cause_id ?? null;
  }
  return chain;
}

/** Of this team alone: another one may work on the same repository, and on a branch of the same name. */
async function firingBehind(
  { shownRepository }: Pick<AutomationHost, "shownRepository">,
  db: Queries,
  { source, event }: CausedEvent,
): Promise<string | null> {
  const branch = event.pullRequest?.headBranch ?? event.branch;
  if (branch === null || !doneByRuns.includes(event.event)) return null;
  const rows = await db
    .selectFrom("handoffs")
    .innerJoin("automation_firings", "automation_firings.agent_id", "handoffs.agent_id")
    .innerJoin("automations", "automations.id", "automation_firings.automation_id")
    .select(["automation_firings.id", "handoffs.repo_url"])
    .where("automations.team_id", "=", source.team_id)
    .where("handoffs.branch", "=", branch)
    .execute();
  return rows.find(({ repo_url }) => isOf(event, repo_url, shownRepository))?.id ?? null;
}

/** Stored without its scheme. */
const isOf = ({ repositoryUrl }: SourceEvent, url: string, shown: AutomationHost["shownRepository"]): boolean =>
  [url, shown(`http://${url}`), shown(`https://${url}`)].some((address) => sameRepository(address, repositoryUrl));

/** Which agent did it, such as one that commented: the embedded host names it, on others it marks what it writes. */
export function agentBehind({ source, event }: CausedEvent): string | null {
  const [, agentId = null] =
    source.type === "git_host"
      ? (/^agent:(.+)$/.exec(event.sender?.login ?? "") ?? [])
      : (/<!-{2} agent:([\w.-]{1,200}) -{2}>\s*$/.exec(event.text) ?? []);
  return agentId;
}

async function firingOfSender(db: Queries, caused: CausedEvent): Promise<string | null> {
  const agentId = agentBehind(caused);
  if (agentId === null) return null;
  const row = await db.selectFrom("automation_firings").select("id").where("agent_id", "=", agentId).executeTakeFirst();
  return row?.id ?? null;
}

/** Why the automation must not start; null where it may. */
export function loopOf(chain: CauseLink[], automationId: string): string | null {
  const names = chain.map(({ name, firingId }) => `${name} (${firingId})`).join(", caused by ");
  if (chain.some((link) => link.automationId === automationId)) return `It caused this event itself: ${names}.`;
  if (chain.length >= maxChain) return `${maxChain} automations in a row caused each other: ${names}.`;
  return null;
}
