// The cause chain of an event: which firing led to it, and which one to that. It ends loops of automations.
import type { Queries } from "../../foundation/index.ts";
import type { SourceEvent } from "./github.ts";
import { sameRepository } from "./match.ts";

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
  db: Queries,
  { teamId, event }: { teamId: number; event: SourceEvent },
): Promise<CauseLink[]> {
  const chain: CauseLink[] = [];
  let firingId = await firingBehind(db, { teamId, event });
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
  db: Queries,
  { teamId, event }: { teamId: number; event: SourceEvent },
): Promise<string | null> {
  const branch = event.pullRequest?.headBranch ?? event.branch;
  if (branch === null || !doneByRuns.includes(event.event)) return null;
  const rows = await db
    .selectFrom("handoffs")
    .innerJoin("automation_firings", "automation_firings.agent_id", "handoffs.agent_id")
    .innerJoin("automations", "automations.id", "automation_firings.automation_id")
    .select(["automation_firings.id", "handoffs.repo_url"])
    .where("automations.team_id", "=", teamId)
    .where("handoffs.branch", "=", branch)
    .execute();
  return rows.find(({ repo_url }) => sameRepository(repo_url, event.repositoryUrl))?.id ?? null;
}

/** Why the automation must not start; null where it may. */
export function loopOf(chain: CauseLink[], automationId: string): string | null {
  const names = chain.map(({ name, firingId }) => `${name} (${firingId})`).join(", caused by ");
  if (chain.some((link) => link.automationId === automationId)) return `It caused this event itself: ${names}.`;
  if (chain.length >= maxChain) return `${maxChain} automations in a row caused each other: ${names}.`;
  return null;
}
