// Why a run waits for a worker, and how many wait before it.
import type { RunQueue } from "@agentcli/protocol/api";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AgentSettings, Tables, WorkerLoss } from "../foundation/index.ts";
import { shownRepository } from "../identity-tokens/index.ts";
import { defaultPool } from "./default-pool.ts";
import { awayText } from "./loss.ts";
import { isOnline } from "./online.ts";
import { poolOwnerOfAgent, poolOwnerOfWorker } from "./pools.ts";
import { neededRepository, servesRepository } from "./repository-rule.ts";

interface QueueRow {
  env: NonNullable<AgentSettings["env"]>;
  /** Of the agent's claim. */
  worker_name: string | null;
  is_online: boolean;
  lost_reason: WorkerLoss | null;
  /** Waiting runs for the same pool or machine that are older. */
  ahead: number;
  /** The connected workers of the pool or machine: the repository that each is for. */
  connected: { repoUrl: string | null }[];
  /** That the worker must be for; null: any. */
  repository: string | null;
}

/** Null if the run waits for no worker. */
export async function readQueue(
  db: Kysely<Tables>,
  run: { id: string; needs_worker: boolean; status: string; lease_owner: string | null },
): Promise<RunQueue | null> {
  if (!run.needs_worker || !["CREATING", "RUNNING"].includes(run.status) || run.lease_owner !== null) return null;
  const { rows } = await sql<QueueRow>`
    with waiting as (
      select agents.settings->'env' as env, agents.team_id, agents.user_id, runs.created_at, runs.agent_id,
        ${poolOwnerOfAgent} as pool_owner, ${neededRepository} as repository
      from runs join agents on agents.id = runs.agent_id where runs.id = ${run.id}
    )
    select waiting.env, waiting.repository, claimed.name as worker_name, coalesce(claimed.is_online, false) as is_online,
      claimed.lost_reason,
      (
        select count(*)::integer from runs join agents on agents.id = runs.agent_id
        where agents.team_id = waiting.team_id and runs.status in ('CREATING', 'RUNNING') and runs.needs_worker
          and runs.lease_owner is null and runs.created_at < waiting.created_at
          and ${sameTarget("agents.settings->'env'")}
          and case when waiting.env->>'type' = 'pool' then ${poolOwnerOfAgent} is not distinct from waiting.pool_owner
            else agents.user_id is not distinct from waiting.user_id end
          and not exists (select from worker_claims claim where claim.agent_id = runs.agent_id)
      ) as ahead,
      (
        select coalesce(json_agg(json_build_object('repoUrl', workers.repo_url)), '[]')
        from workers where workers.team_id = waiting.team_id and ${isOnline} and case
          when waiting.env->>'type' = 'pool' then workers.pool = coalesce(waiting.env->>'name', ${defaultPool})
            and ${poolOwnerOfWorker} is not distinct from waiting.pool_owner
          else workers.pool is null and workers.user_id is not distinct from waiting.user_id
            and (waiting.env->>'name' is null or workers.name = waiting.env->>'name') end
      ) as connected
    from waiting left join lateral (
      select workers.name, workers.lost_reason, ${isOnline} as is_online
      from worker_claims claim join workers on workers.team_id = claim.team_id and workers.id = claim.worker_id
      where claim.agent_id = waiting.agent_id
    ) as claimed on true
  `.execute(db);
  const [row] = rows;
  return row === undefined ? null : { position: row.worker_name === null ? row.ahead + 1 : 1, reason: reasonOf(row) };
}

/** A pool without a name is the default one; a machine without a name is any. */
const sameTarget = (env: string) => {
  const name = (of: RawBuilder<unknown>) =>
    sql`case when ${of}->>'type' = 'pool' then coalesce(${of}->>'name', ${defaultPool}) else ${of}->>'name' end`;
  const other = sql`(${sql.raw(env)})`;
  return sql<boolean>`${other}->>'type' = waiting.env->>'type'
    and ${name(other)} is not distinct from ${name(sql`waiting.env`)}`;
};

/** Pure. */
function reasonOf({ env, worker_name, is_online, lost_reason, ...row }: QueueRow): string {
  const target = env.type === "pool" ? `the pool ${env.name ?? defaultPool}` : (env.name ?? "your machines");
  if (worker_name !== null)
    return is_online ? `The worker ${worker_name} takes the run.` : awayText({ name: worker_name, lost_reason });
  if (row.connected.length === 0)
    return env.type === "pool" ? `No worker of ${target} is connected.` : `No worker is connected for ${target}.`;
  const connected = row.connected.filter(({ repoUrl }) => servesRepository(repoUrl, row)).length;
  if (connected === 0)
    return `No worker of ${target} is for ${shownRepository(row.repository ?? "")}: each is in a checkout of another repository.`;
  return `No worker of ${target} is free: ${connected} ${connected === 1 ? "is" : "are"} in use.`;
}
