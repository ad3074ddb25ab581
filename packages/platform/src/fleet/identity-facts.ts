// What the database knows of an agent on a worker: nothing, unless that worker has claimed it.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../foundation/index.ts";
import { type AgentFacts, readFacts } from "../identity-tokens/index.ts";

/** The agent by the name of its directories, which workers know it by. */
export interface ServedAgent {
  teamId: number;
  workerId: string;
  directory: string;
}

/** Undefined if the worker has not claimed the agent, or no run of it is active. */
export async function readFactsOnWorker(
  db: Kysely<Tables>,
  { teamId, workerId, directory }: ServedAgent,
): Promise<AgentFacts | undefined> {
  const { rows } = await sql<{ id: string }>`
    select agents.id from agents join worker_claims claim on claim.agent_id = agents.id
    where agents.directory = ${directory} and agents.team_id = ${teamId}
      and claim.team_id = ${teamId} and claim.worker_id = ${workerId} and claim.failed_run_id is null
  `.execute(db);
  const [agent] = rows;
  return agent && readFacts(db, agent.id, { runtime: "self_hosted", environmentId: null });
}
