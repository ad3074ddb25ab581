// The workers of the database: who they are, where they are connected, and which agent uses which.
import type { RegisterRequest } from "@agentcli/protocol/worker-link";
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import { notify, type Principal, type Tables, type WorkerLoss, type WorkerTable } from "../foundation/index.ts";
import { refuseFormerUser } from "../identity/index.ts";
import { isOnline } from "./online.ts";
import { maxPools, mayNamePool, notePool, poolOwnerOfWorker } from "./pools.ts";

export type StoredWorker = Selectable<WorkerTable>;

/** A worker as the agent has claimed it. */
export interface ClaimedWorker extends StoredWorker {
  /** The run that its controller could not bring a worker for, and why. */
  failed_run_id: string | null;
  failure: Buffer | null;
}

/** At most so many for a user, and for a team. */
export const maxWorkers = { user: 200, team: 1_000 };

/** `connectedAt` tells this connection from others of the same worker: one that ends late must not end its successor. */
export type Registration =
  | { kind: "registered"; connectedAt: string }
  | { kind: "refused"; message: string }
  /** Until the other process of the worker has gone. */
  | { kind: "elsewhere"; message: string };

export interface Registrant {
  principal: Principal;
  nodeId: string;
  /** A token is for one process at a time: a process with a copy of it does not displace the worker. */
  credential: "key" | "token";
}

export async function registerWorker(
  db: Kysely<Tables>,
  { principal, nodeId, credential }: Registrant,
  request: RegisterRequest,
): Promise<Registration> {
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
    lost_reason: null,
    connected_at: now,
    last_seen_at: now,
  };
  return db.transaction().execute(async (tx) => {
    const { teamId } = principal;
    await refuseFormerUser(tx);
    if (credential === "token" && (await isElsewhere(tx, teamId, request)))
      return { kind: "elsewhere" as const, message: elsewhere(request) };
    const full = await limitReached(tx, principal, request.workerId);
    if (full !== null) return refused(full);
    if (request.pool !== undefined && !(await mayNamePool(tx, teamId, request.pool)))
      return refused(`The team has ${maxPools} pools already. Deregister one first.`);
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
      .returning([sql<string>`connected_at::text`.as("connectedAt"), poolOwnerOfWorker.as("poolOwner")])
      .executeTakeFirst();
    if (!stored)
      return refused(
        `The worker id ${request.workerId} belongs to another user or pool. Choose another with --worker-id.`,
      );
    if (request.pool !== undefined && stored.poolOwner === null) await notePool(tx, teamId, request.pool);
    await notify(tx, "workers", request.workerId);
    return { kind: "registered" as const, connectedAt: stored.connectedAt };
  });
}

/** Another process of the worker is connected, to any server. */
async function isElsewhere(tx: Transaction<Tables>, teamId: number, request: RegisterRequest): Promise<boolean> {
  const { rows } = await sql`
    select from workers where team_id = ${teamId} and id = ${request.workerId} and session <> ${request.session}
      and ${isOnline} for update
  `.execute(tx);
  return rows.length > 0;
}

const elsewhere = ({ workerId }: RegisterRequest): string =>
  `The worker ${workerId} is connected already, by another process. A token connects one at a time: stop the other one, or wait until the platform has noticed that it is gone.`;

const refused = (message: string): Registration => ({ kind: "refused", message });

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

/** Nothing if it has connected again since, here or elsewhere. */
export async function disconnectWorker(
  db: Kysely<Tables>,
  worker: { teamId: number; workerId: string; connectedAt: string },
  reason: WorkerLoss,
): Promise<void> {
  await db
    .updateTable("workers")
    .set({ node_id: null, last_seen_at: sql<Date>`now()`, lost_reason: reason })
    .where("team_id", "=", worker.teamId)
    .where("id", "=", worker.workerId)
    .where("connected_at", "=", sql<Date>`${worker.connectedAt}::timestamptz`)
    .execute();
  await notify(db, "workers", worker.workerId);
}

/** When a server starts, no worker is connected to it, whatever its former life has written. */
export async function forgetConnections(db: Kysely<Tables>, nodeId: string): Promise<void> {
  await db.updateTable("workers").set({ node_id: null }).where("node_id", "=", nodeId).execute();
}

/** A row that is newer may be that of a worker whose registration is not complete here. */
const registrationSeconds = 60;

/** Rows of workers that are not connected to this server any more, because their end could not be written, say so now. */
export async function reportSeen(
  db: Kysely<Tables>,
  nodeId: string,
  connected: { teamId: number; workerId: string }[],
): Promise<void> {
  const held = sql`(
    select * from unnest(
      ${connected.map(({ teamId }) => teamId)}::integer[], ${connected.map(({ workerId }) => workerId)}::text[]
    ) as held (team_id, id) where held.team_id = workers.team_id and held.id = workers.id
  )`;
  await sql`update workers set last_seen_at = now() where node_id = ${nodeId} and exists ${held}`.execute(db);
  await sql`
    update workers set node_id = null
    where node_id = ${nodeId} and connected_at < now() - ${registrationSeconds} * interval '1 second' and not exists ${held}
  `.execute(db);
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
