// Gives waiting agents a worker: the longest waiting first, each pool worker to one agent at a time. One server decides at a time.
import { type Kysely, sql } from "kysely";
import { type AgentSettings, notify, type Tables } from "../foundation/index.ts";
import { defaultPool } from "./default-pool.ts";
import { noticeOfAssigned } from "./notices.ts";
import { isOnline, isOverdue } from "./online.ts";
import { poolOwnerOfAgent, poolOwnerOfWorker } from "./pools.ts";
import { neededRepository, type RepositoryNeed, servesRepository } from "./repository-rule.ts";

export interface WaitingAgent extends RepositoryNeed {
  agentId: string;
  teamId: number;
  /** The owner of the agent. */
  userId: number | null;
  env: NonNullable<AgentSettings["env"]>;
  /** The service account whose own pool it waits for; null: a pool of the team, or a machine. */
  poolOwner: string | null;
}

export interface AvailableWorker {
  id: string;
  teamId: number;
  userId: number | null;
  name: string;
  pool: string | null;
  /** The service account whose own pool it serves; null: a pool of the team, or none. */
  poolOwner: string | null;
  /** Of the repository that its directory is a checkout of. */
  repoUrl: string | null;
  /** The server that it is connected to. */
  nodeId: string;
  /** The agent that has the pool worker to itself, but no run; null: none has. */
  idleAgentId: string | null;
}

export interface Assignment {
  agentId: string;
  teamId: number;
  workerId: string;
  /** Of the worker. */
  nodeId: string;
  isExclusive: boolean;
  /** Loses the worker: it has no run, and its files are on the platform. */
  insteadOf: string | null;
}

/** Pure: workers without an agent first. */
export function matchWorkers(waiting: WaitingAgent[], available: AvailableWorker[]): Assignment[] {
  const free = [...available].sort((a, b) => Number(a.idleAgentId !== null) - Number(b.idleAgentId !== null));
  const assignments: Assignment[] = [];
  for (const agent of waiting) {
    const index = free.findIndex((worker) => fits(worker, agent));
    const worker = free[index];
    if (worker === undefined) continue;
    const isExclusive = worker.pool !== null;
    if (isExclusive) free.splice(index, 1);
    const { agentId, teamId } = agent;
    const { id: workerId, nodeId, idleAgentId: insteadOf } = worker;
    assignments.push({ agentId, teamId, workerId, nodeId, isExclusive, insteadOf });
  }
  return assignments;
}

function fits(worker: AvailableWorker, agent: WaitingAgent): boolean {
  const { teamId, userId, env, poolOwner } = agent;
  if (worker.teamId !== teamId || !servesRepository(worker.repoUrl, agent)) return false;
  if (env.type === "pool") return worker.pool === (env.name ?? defaultPool) && worker.poolOwner === poolOwner;
  return worker.pool === null && worker.userId === userId && (env.name === undefined || worker.name === env.name);
}

const maxAtOnce = 500;

/** Returns how many were assigned. */
export async function assignWorkers(db: Kysely<Tables>): Promise<number> {
  // Every new run asks; most need no worker, and then no lock.
  if ((await readWaiting(db)).length === 0) return 0;
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('worker assignment'))`.execute(tx);
    const waiting = await readWaiting(tx);
    if (waiting.length === 0) return 0;
    await dropFailedClaims(tx);
    const assignments = matchWorkers(waiting, await readAvailable(tx, [...new Set(waiting.map((one) => one.teamId))]));
    for (const { agentId, teamId, workerId, isExclusive, insteadOf } of assignments) {
      // Its own: that of a run that failed.
      const ended = [agentId, ...(insteadOf === null ? [] : [insteadOf])];
      await tx.deleteFrom("worker_claims").where("agent_id", "in", ended).execute();
      const claim = { agent_id: agentId, team_id: teamId, worker_id: workerId, is_exclusive: isExclusive };
      await tx.insertInto("worker_claims").values(claim).execute();
    }
    for (const nodeId of new Set(assignments.map((one) => one.nodeId)))
      await notify(tx, "runs", noticeOfAssigned(nodeId));
    return assignments.length;
  });
}

/** Of runs that have ended: their workers are free again. */
export async function dropFailedClaims(tx: Kysely<Tables>): Promise<void> {
  await sql`
    delete from worker_claims where failed_run_id is not null and not exists (
      select from runs where runs.id = worker_claims.failed_run_id and runs.status in ('CREATING', 'RUNNING')
    )
  `.execute(tx);
}

async function readWaiting(tx: Kysely<Tables>): Promise<WaitingAgent[]> {
  const { rows } = await sql<WaitingAgent>`
    select runs.agent_id as "agentId", agents.team_id as "teamId", agents.user_id as "userId", agents.settings->'env' as env,
      case when agents.settings->'env'->>'type' = 'pool' then ${poolOwnerOfAgent} end as "poolOwner",
      ${neededRepository} as repository
    from runs join agents on agents.id = runs.agent_id
    where runs.status in ('CREATING', 'RUNNING') and runs.needs_worker and runs.cancel_requested_at is null
      and not exists (
        select from worker_claims claim
        where claim.agent_id = runs.agent_id and (claim.failed_run_id is null or claim.failed_run_id = runs.id)
      )
    order by runs.created_at limit ${maxAtOnce}
  `.execute(tx);
  return rows;
}

async function readAvailable(tx: Kysely<Tables>, teamIds: number[]): Promise<AvailableWorker[]> {
  const { rows } = await sql<AvailableWorker>`
    select workers.id, workers.team_id as "teamId", workers.user_id as "userId", workers.name, workers.pool,
      workers.repo_url as "repoUrl", workers.node_id as "nodeId",
      ${poolOwnerOfWorker} as "poolOwner", claim.agent_id as "idleAgentId"
    from workers left join worker_claims claim
      on claim.team_id = workers.team_id and claim.worker_id = workers.id and claim.is_exclusive
    where workers.team_id = any(${teamIds}::integer[]) and ${isOnline}
      and (claim.agent_id is null or claim.service_account_id is null and not exists (
        select from runs where runs.agent_id = claim.agent_id and runs.status in ('CREATING', 'RUNNING')
      ))
    order by workers.connected_at
  `.execute(tx);
  return rows;
}

/** A run that has not begun need not have the worker that stays away: another worker of the pool can get its files. */
export async function dropOverdueClaims(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    delete from worker_claims claim using workers, runs
    where workers.team_id = claim.team_id and workers.id = claim.worker_id and runs.agent_id = claim.agent_id
      and runs.status = 'CREATING' and runs.cancel_requested_at is null and runs.lease_until is null
      and claim.is_exclusive and claim.failed_run_id is null and ${isOverdue}
    returning claim.worker_id as id
  `.execute(db);
  for (const { id } of rows) await notify(db, "workers", id);
}
