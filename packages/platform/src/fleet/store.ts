// The workers of the database: who they are, where they are connected, and which agent uses which.
import type { RegisterRequest } from "@agentcli/protocol/worker-link";
import { type Kysely, type Selectable, sql } from "kysely";
import { notify, type Principal, type Tables, type WorkerTable } from "../foundation/index.ts";
import { notePool } from "./pools.ts";

export type StoredWorker = Selectable<WorkerTable>;

/** A worker as the agent has claimed it. */
export interface ClaimedWorker extends StoredWorker {
  /** The run that its controller could not bring a worker for, and why. */
  failed_run_id: string | null;
  failure: Buffer | null;
}

/** At most so many for a user, and for a team. */
export const maxWorkers = { user: 200, team: 1_000 };

/** Null if it is registered; otherwise why it cannot be. */
export async function registerWorker(
  db: Kysely<Tables>,
  { principal, nodeId }: { principal: Principal; nodeId: string },
  request: RegisterRequest,
): Promise<string | null> {
  const owner = {
    user_id: principal.kind === "user" ? principal.userId : null,
    service_account_id: principal.kind === "service_account" ? principal.serviceAccountId : null,
  };
  const now = sql<Date>`now()`;
  const facts = {
    ...owner,
    name: request.name,
    pool: request.pool ?? null,
    labels: JSON.stringify(request.labels),
    root_path: request.workspaceRootPath,
    repo_url: request.repoUrl ?? null,
    version: request.version,
    session: request.session,
    node_id: nodeId,
    connected_at: now,
    last_seen_at: now,
  };
  return db.transaction().execute(async (tx) => {
    const { teamId } = principal;
    const full = await limitReached(tx, principal, request.workerId);
    if (full !== null) return full;
    const stored = await tx
      .insertInto("workers")
      .values({ team_id: teamId, id: request.workerId, ...facts })
      .onConflict((conflict) =>
        conflict
          .columns(["team_id", "id"])
          .doUpdateSet(facts)
          .where(sql<boolean>`(workers.user_id, workers.service_account_id, workers.pool) is not distinct from
            (excluded.user_id, excluded.service_account_id, excluded.pool)`),
      )
      .returning("id")
      .executeTakeFirst();
    if (!stored)
      return `The worker id ${request.workerId} belongs to another user or pool. Choose another with --worker-id.`;
    if (request.pool !== undefined) await notePool(tx, teamId, request.pool);
    await notify(tx, "workers", request.workerId);
    return null;
  });
}

async function limitReached(tx: Kysely<Tables>, principal: Principal, workerId: string): Promise<string | null> {
  const connected = tx
    .selectFrom("workers")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("team_id", "=", principal.teamId)
    .where("node_id", "is not", null)
    .where("id", "<>", workerId);
  const team = await connected.executeTakeFirstOrThrow();
  if (Number(team.count) >= maxWorkers.team) return `The team has ${maxWorkers.team} workers already. Stop one first.`;
  if (principal.kind !== "user") return null;
  const user = await connected.where("user_id", "=", principal.userId).executeTakeFirstOrThrow();
  return Number(user.count) >= maxWorkers.user ? `You have ${maxWorkers.user} workers already. Stop one first.` : null;
}

/** Nothing if it has connected elsewhere since. */
export async function disconnectWorker(
  db: Kysely<Tables>,
  worker: { teamId: number; workerId: string; session: string; nodeId: string },
): Promise<void> {
  await db
    .updateTable("workers")
    .set({ node_id: null, last_seen_at: sql<Date>`now()` })
    .where("team_id", "=", worker.teamId)
    .where("id", "=", worker.workerId)
    .where("node_id", "=", worker.nodeId)
    .execute();
  await notify(db, "workers", worker.workerId);
}

/** When a server starts, no worker is connected to it, whatever its former life has written. */
export async function forgetConnections(db: Kysely<Tables>, nodeId: string): Promise<void> {
  await db.updateTable("workers").set({ node_id: null }).where("node_id", "=", nodeId).execute();
}

export async function reportSeen(db: Kysely<Tables>, nodeId: string): Promise<void> {
  await db.updateTable("workers").set({ last_seen_at: sql<Date>`now()` }).where("node_id", "=", nodeId).execute();
}

export async function findClaimed(db: Kysely<Tables>, agentId: string): Promise<ClaimedWorker | undefined> {
  return db
    .selectFrom("worker_claims")
    .innerJoin("workers", (join) =>
      join.onRef("workers.team_id", "=", "worker_claims.team_id").onRef("workers.id", "=", "worker_claims.worker_id"),
    )
    .selectAll("workers")
    .select(["worker_claims.failed_run_id", "worker_claims.failure"])
    .where("worker_claims.agent_id", "=", agentId)
    .executeTakeFirst();
}

/** Of agents without an active run. */
export async function releaseIdleClaims(
  db: Kysely<Tables>,
  { teamId, workerId }: { teamId: number; workerId: string },
): Promise<void> {
  await sql`
    delete from worker_claims claim where claim.team_id = ${teamId} and claim.worker_id = ${workerId} and not exists (
      select from runs where runs.agent_id = claim.agent_id and runs.status in ('CREATING', 'RUNNING')
    )
  `.execute(db);
}
