// Claims that controllers make: a waiting request for a worker that they start, until it is released.
import type { Claim, ClaimAnswer, ClaimRequest } from "@agentcli/protocol/api";
import { type Kysely, sql, type Transaction } from "kysely";
import { ApiError, isUniqueViolation, notify, type Principal, type Tables, type Vault } from "../foundation/index.ts";
import { dropFailedClaims } from "./assign.ts";
import { defaultPool } from "./default-pool.ts";
import { isOnline } from "./online.ts";
import { type PoolOwner, poolOwnerOfAgent } from "./pools.ts";
import { createToken } from "./tokens.ts";

interface WaitingRun {
  agent_id: string;
  pool: string;
  /** Of a live claim. */
  worker_id: string | null;
}

/** With its token, where one is asked for: both or neither. Throws `pending_request_not_found` or `request_claimed`. */
export async function claimRequest(
  db: Kysely<Tables>,
  { principal, ...owner }: PoolOwner & { principal: Principal },
  { id, workerId, sessionToken }: ClaimRequest,
): Promise<ClaimAnswer> {
  try {
    return await db.transaction().execute(async (tx) => {
      // The same lock as that of the assignment of idle workers.
      await sql`select pg_advisory_xact_lock(hashtext('worker assignment'))`.execute(tx);
      const waiting = await findWaiting(tx, owner, id);
      if (waiting === undefined)
        throw new ApiError("pending_request_not_found", `No request ${id} waits for a worker of a pool.`);
      if (waiting.worker_id !== null)
        throw new ApiError("request_claimed", `Worker ${waiting.worker_id} has claimed ${id} already.`);
      await dropFailedClaims(tx);
      await expectWorker(tx, owner, { workerId, pool: waiting.pool });
      await tx
        .insertInto("worker_claims")
        .values({
          ...{ agent_id: waiting.agent_id, team_id: owner.teamId, worker_id: workerId, is_exclusive: true },
          service_account_id: owner.serviceAccountId,
        })
        .execute();
      await notify(tx, "workers", workerId);
      await notify(tx, "runs", "");
      const claim = { id: waiting.agent_id, workerId };
      return sessionToken ? createToken(tx, principal, claim) : claim;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError(
      "request_claimed",
      `Worker ${workerId} has another agent. Release that claim, or name another worker.`,
    );
  }
}

async function findWaiting(
  tx: Transaction<Tables>,
  { teamId, serviceAccountId }: PoolOwner,
  id: string,
): Promise<WaitingRun | undefined> {
  await sql`
    delete from worker_claims claim using runs
    where claim.agent_id = ${id} and claim.team_id = ${teamId} and runs.agent_id = claim.agent_id
      and runs.status in ('CREATING', 'RUNNING') and claim.failed_run_id <> runs.id
  `.execute(tx);
  const { rows } = await sql<WaitingRun>`
    select runs.agent_id, coalesce(agents.settings->'env'->>'name', ${defaultPool}) as pool, claim.worker_id
    from runs join agents on agents.id = runs.agent_id
      left join worker_claims claim on claim.agent_id = runs.agent_id
    where runs.agent_id = ${id} and agents.team_id = ${teamId} and runs.status in ('CREATING', 'RUNNING')
      and runs.needs_worker and runs.cancel_requested_at is null and agents.settings->'env'->>'type' = 'pool'
      and coalesce(${poolOwnerOfAgent} = ${serviceAccountId}::uuid, true)
  `.execute(tx);
  return rows[0];
}

/** The worker may not have connected yet: its row is made here, and only its own pool and account can connect as it. */
async function expectWorker(
  tx: Transaction<Tables>,
  { teamId, serviceAccountId }: PoolOwner,
  { workerId, pool }: { workerId: string; pool: string },
): Promise<void> {
  await tx
    .insertInto("workers")
    .values({
      ...{ team_id: teamId, id: workerId, user_id: null, service_account_id: serviceAccountId, name: workerId, pool },
      ...{ labels: "{}", root_path: "", repo_url: null, version: "", session: "" },
      ...{ connected_at: new Date(0), last_seen_at: new Date(0) },
    })
    .onConflict((conflict) => conflict.columns(["team_id", "id"]).doNothing())
    .execute();
  const worker = await tx
    .selectFrom("workers")
    .select(["pool", "service_account_id"])
    .where("team_id", "=", teamId)
    .where("id", "=", workerId)
    .executeTakeFirstOrThrow();
  if (worker.pool !== pool || worker.service_account_id !== serviceAccountId)
    throw new ApiError("worker_in_use", `Worker in use: ${workerId} belongs to another user, account or pool.`);
}

interface LiveClaim {
  agent_id: string;
  worker_id: string;
  data_key: Buffer;
  /** The active run of the agent; null: it has none. */
  run_id: string | null;
  /** Of that run: a turn may have begun, and its files are with the worker alone. */
  has_begun: boolean | null;
  is_online: boolean;
}

/** Throws `claim_not_found`. */
export async function findClaim(
  db: Kysely<Tables>,
  { teamId, serviceAccountId }: PoolOwner,
  id: string,
): Promise<LiveClaim> {
  const { rows } = await sql<LiveClaim>`
    select claim.agent_id, claim.worker_id, agents.data_key, runs.id as run_id,
      runs.status = 'RUNNING' as has_begun, ${isOnline} as is_online
    from worker_claims claim join agents on agents.id = claim.agent_id
      join workers on workers.team_id = claim.team_id and workers.id = claim.worker_id
      left join runs on runs.agent_id = claim.agent_id and runs.status in ('CREATING', 'RUNNING')
    where claim.agent_id = ${id} and claim.team_id = ${teamId} and claim.is_exclusive and claim.failed_run_id is null
      and coalesce(${poolOwnerOfAgent} = ${serviceAccountId}::uuid, true)
  `.execute(db);
  const [claim] = rows;
  if (claim === undefined) throw new ApiError("claim_not_found", `No worker has claimed ${id}.`);
  return claim;
}

/** Throws `claim_not_found`, or `worker_in_use` in the middle of a turn. */
export async function releaseClaim(db: Kysely<Tables>, owner: PoolOwner, id: string): Promise<Claim> {
  const claim = await findClaim(db, owner, id);
  if (claim.run_id !== null && (claim.is_online || claim.has_begun))
    throw new ApiError("worker_in_use", `Worker in use: ${claim.worker_id} runs a turn of ${claim.agent_id}.`);
  await db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom("worker_claims")
      .where("agent_id", "=", claim.agent_id)
      .where("worker_id", "=", claim.worker_id)
      .execute();
    await notify(tx, "workers", claim.worker_id);
    if (claim.run_id !== null) await notify(tx, "runs", claim.run_id);
  });
  return { id: claim.agent_id, workerId: claim.worker_id };
}

export const failureAad = (agentId: string): string => `worker_claims.failure ${agentId}`;

/** Ends the waiting run with this message. Throws `claim_not_found`, `no_turn_waiting` or `worker_connected`. */
export async function failClaim(
  { db, vault }: { db: Kysely<Tables>; vault: Vault },
  owner: PoolOwner,
  { id, message }: { id: string; message: string },
): Promise<Claim> {
  const claim = await findClaim(db, owner, id);
  if (claim.run_id === null)
    throw new ApiError("no_turn_waiting", `No turn waiting: ${claim.agent_id} has no run. Release the claim instead.`);
  if (claim.is_online)
    throw new ApiError("worker_connected", `Worker connected: ${claim.worker_id} serves the turn. Stop it first.`);
  const key = await vault.unwrap(claim.data_key);
  const failure = key.seal(message, failureAad(claim.agent_id));
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("worker_claims")
      .set({ failed_run_id: claim.run_id, failure })
      .where("agent_id", "=", claim.agent_id)
      .where("worker_id", "=", claim.worker_id)
      .where("failed_run_id", "is", null)
      .execute();
    await tx.deleteFrom("worker_tokens").where("agent_id", "=", claim.agent_id).execute();
    await notify(tx, "runs", "");
  });
  return { id: claim.agent_id, workerId: claim.worker_id };
}
