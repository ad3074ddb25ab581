// What the database knows of an agent with an active run: who it works for, and on what.
import { type Kysely, sql } from "kysely";
import type { AgentSettings, Tables } from "../foundation/index.ts";
import { shownRepository } from "./repository-name.ts";
import type { AgentFacts } from "./token.ts";

interface Row {
  team_id: number;
  user_id: number | null;
  email: string | null;
  service_account_id: string | null;
  source: string;
  settings: AgentSettings;
  automation_id: string | null;
  run_id: string;
  started_at: Date | null;
  model: string | null;
  run_user_id: number | null;
  run_email: string | null;
}

/** Undefined if the agent has no active run. */
export async function readFacts(
  db: Kysely<Tables>,
  agentId: string,
  { runtime, environmentId }: Pick<AgentFacts, "runtime" | "environmentId">,
): Promise<AgentFacts | undefined> {
  const { rows } = await sql<Row>`
    select agents.team_id, agents.user_id, users.email, agents.service_account_id, agents.source, agents.settings,
      started.automation_id, runs.id as run_id, runs.started_at, runs.model, runs.user_id as run_user_id,
      requester.email as run_email
    from agents
      join runs on runs.agent_id = agents.id and runs.status in ('CREATING', 'RUNNING')
      left join users on users.id = agents.user_id
      left join users requester on requester.id = runs.user_id
      left join automation_agents started on started.agent_id = agents.id
    where agents.id = ${agentId}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { run_id: id, started_at: startedAt, model, run_user_id: userId, run_email: userEmail } = row;
  return {
    agentId,
    runtime,
    environmentId,
    teamId: row.team_id,
    userId: row.user_id,
    userEmail: row.email,
    serviceAccountId: row.service_account_id,
    source: row.source,
    repositories: row.settings.repos.map(({ url }) => shownRepository(url)),
    branchName: row.settings.branchName,
    automationId: row.automation_id,
    run: { id, startedAt, model, userId, userEmail },
  };
}
