// What the database knows of an agent on a worker: nothing, unless that worker has claimed it.
import { type Kysely, sql } from "kysely";
import type { AgentSettings, Tables } from "../foundation/index.ts";
import type { AgentFacts } from "../identity-tokens/index.ts";
import { shownRepository } from "./repository-name.ts";

/** The agent by the name of its directories, which workers know it by. */
export interface ServedAgent {
  teamId: number;
  workerId: string;
  directory: string;
}

interface Row {
  agent_id: string;
  user_id: number | null;
  email: string | null;
  service_account_id: string | null;
  source: string;
  settings: AgentSettings;
  automation_id: string | null;
  run_id: string;
  started_at: Date | null;
}

/** Undefined if the worker has not claimed the agent, or no run of it is active. */
export async function readFacts(
  db: Kysely<Tables>,
  { teamId, workerId, directory }: ServedAgent,
): Promise<AgentFacts | undefined> {
  const { rows } = await sql<Row>`
    select agents.id as agent_id, agents.user_id, users.email, agents.service_account_id, agents.source, agents.settings,
      started.automation_id, runs.id as run_id, runs.started_at
    from agents
      join worker_claims claim on claim.agent_id = agents.id
      join runs on runs.agent_id = agents.id and runs.status in ('CREATING', 'RUNNING')
      left join users on users.id = agents.user_id
      left join automation_agents started on started.agent_id = agents.id
    where agents.directory = ${directory} and agents.team_id = ${teamId}
      and claim.team_id = ${teamId} and claim.worker_id = ${workerId} and claim.failed_run_id is null
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    agentId: row.agent_id,
    runtime: "self_hosted",
    teamId,
    userId: row.user_id,
    userEmail: row.email,
    serviceAccountId: row.service_account_id,
    source: row.source,
    repositories: row.settings.repos.map(({ url }) => shownRepository(url)),
    branchName: row.settings.branchName,
    automationId: row.automation_id,
    run: { id: row.run_id, startedAt: row.started_at },
  };
}
