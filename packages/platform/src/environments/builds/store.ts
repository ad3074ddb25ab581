// Builds in the database: requested, claimed by one server, ended once.
import { randomUUID } from "node:crypto";
import type { BuildFailure, BuildTrigger, RepositoryCommit } from "@agentcli/protocol/api";
import { type Kysely, sql } from "kysely";
import { ApiError, type DataKey, notify, type Position, type Queries, type Tables } from "../../foundation/index.ts";
import type { EnvironmentRow } from "../store.ts";
import type { BuildRow } from "../views.ts";
import { appendLog } from "./log.ts";

export const overridesAad = (buildId: string): string => `build-overrides:${buildId}`;

export interface BuildOverrides {
  install?: string | undefined;
  start?: string | undefined;
}

export interface NewBuild {
  environment: EnvironmentRow;
  key: DataKey;
  trigger: BuildTrigger;
  draft: boolean;
  overrides?: BuildOverrides | undefined;
  requestedBy: string | null;
}

/** Of the builds that wait, only the newest will run: the others end as cancelled. Drafts wait on their own. */
export async function insertBuild(tx: Queries, build: NewBuild): Promise<BuildRow> {
  const { environment, key, trigger, draft, overrides, requestedBy } = build;
  const now = new Date();
  const id = `bld-${now.toISOString().slice(0, 10).replaceAll("-", "")}-${randomUUID()}`;
  // The version that counts now, also where another request has just changed it; one request at a time.
  const { version_id } = await tx
    .selectFrom("environments")
    .select("version_id")
    .where("id", "=", environment.id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const superseded = await tx
    .updateTable("environment_builds")
    .set({ status: "CANCELLED", completed_at: now, updated_at: now, lease_epoch: sql<number>`lease_epoch + 1` })
    .where("environment_id", "=", environment.id)
    .where("status", "=", "IN_PROGRESS")
    .where("started_at", "is", null)
    .where("draft", "=", draft)
    .returning("id")
    .execute();
  for (const former of superseded)
    await appendLog(tx, { buildId: former.id, key }, `Not started: ${id} was requested after it and replaces it.\n`);
  const hasOverrides = overrides?.install !== undefined || overrides?.start !== undefined;
  const row = await tx
    .insertInto("environment_builds")
    .values({
      id,
      environment_id: environment.id,
      version_id,
      status: "IN_PROGRESS",
      trigger,
      draft,
      overrides: hasOverrides ? key.seal(JSON.stringify(overrides), overridesAad(id)) : null,
      requested_by: requestedBy,
      commits: "[]",
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await notify(tx, "environment_builds", id);
  return row;
}

export async function findBuild(db: Queries, environmentId: string, id: string): Promise<BuildRow> {
  const row = await db
    .selectFrom("environment_builds")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .where("id", "=", id.toLowerCase())
    .executeTakeFirst();
  if (!row) throw new ApiError("build_not_found", `The environment has no build ${id.slice(0, 100)}.`);
  return row;
}

/** Newest first; one more than the limit where there is a next page. */
export function listBuilds(
  db: Queries,
  environmentId: string,
  { limit, after }: { limit: number; after: Position | null },
): Promise<BuildRow[]> {
  let query = db
    .selectFrom("environment_builds")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return query.execute();
}

/** Only one that succeeded and was not discarded. An older one too: that is how a bad build is taken back. */
export async function activateBuild(tx: Queries, build: BuildRow): Promise<void> {
  if (build.status !== "SUCCEEDED")
    throw new ApiError(
      "build_not_ready",
      `Build ${build.id} cannot be activated: it is ${build.status}. Only a build that succeeded can.`,
    );
  await requireKept(tx, build.id);
  const now = new Date();
  await tx
    .updateTable("environments")
    .set({ active_build_id: build.id, updated_at: now })
    .where("id", "=", build.environment_id)
    .execute();
  await tx
    .updateTable("environment_builds")
    .set({ draft: false, updated_at: now })
    .where("id", "=", build.id)
    .where("draft", "=", true)
    .execute();
}

/** Until the end of the transaction no other person discards it. */
async function requireKept(tx: Queries, id: string): Promise<void> {
  const { discarded_at } = await tx
    .selectFrom("environment_builds")
    .select("discarded_at")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (discarded_at === null) return;
  throw new ApiError("build_not_ready", `Build ${id} cannot be activated: it was discarded. Build it again.`);
}

/** One that has not begun ends at once; the server that executes another one stops it. */
export async function requestBuildCancel(tx: Queries, build: BuildRow, key: DataKey): Promise<void> {
  const now = new Date();
  const waiting = await tx
    .updateTable("environment_builds")
    .set({ status: "CANCELLED", completed_at: now, updated_at: now, cancel_requested_at: now })
    .where("id", "=", build.id)
    .where("status", "=", "IN_PROGRESS")
    .where("started_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (waiting) return appendLog(tx, { buildId: build.id, key }, "Cancelled before it began.\n");
  const running = await tx
    .updateTable("environment_builds")
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, ${now})`, updated_at: now })
    .where("id", "=", build.id)
    .where("status", "=", "IN_PROGRESS")
    .returning("id")
    .executeTakeFirst();
  if (!running) throw new ApiError("build_not_cancellable", `Build ${build.id} has already ended.`);
  await notify(tx, "environment_build_cancels", build.id);
}

/** Identifies one claim of a build. Every write of its server carries it. */
export interface BuildFence {
  buildId: string;
  epoch: number;
}

export interface ClaimedBuild extends BuildFence {
  build: BuildRow;
  /** Another server, or this one before it stopped, had begun it. */
  wasInterrupted: boolean;
}

export interface BuildClaims {
  nodeId: string;
  leaseMs: number;
  /** Builds that this server executes right now. */
  held: string[];
}

const until = (leaseMs: number) => sql<Date>`now() + ${`${leaseMs} milliseconds`}::interval`;

/** One at a time per environment, and the longest waiting first; null if there is none. */
export async function claimBuild(
  db: Kysely<Tables>,
  { nodeId, leaseMs, held }: BuildClaims,
): Promise<ClaimedBuild | null> {
  return db.transaction().execute(async (tx) => {
    // One claim after another among all servers: two of them would see that no build of the environment runs.
    await sql`select pg_advisory_xact_lock(${claimLock})`.execute(tx);
    return claimNext(tx, { nodeId, leaseMs, held });
  });
}

const claimLock = 7420_0021;

async function claimNext(tx: Queries, { nodeId, leaseMs, held }: BuildClaims): Promise<ClaimedBuild | null> {
  const { rows } = await sql<BuildRow & { was_started: boolean }>`
    with candidate as (
      select builds.id, builds.started_at is not null as was_started from environment_builds as builds
      where status = 'IN_PROGRESS' and id <> all(${held}::text[])
        and (lease_until is null or lease_until < now() or lease_owner = ${nodeId})
        and not exists (
          select from environment_builds as other
          where other.environment_id = builds.environment_id and other.status = 'IN_PROGRESS' and other.id <> builds.id
            and other.started_at is not null
        )
      order by builds.started_at is null, builds.created_at
      limit 1 for update skip locked
    )
    update environment_builds as builds
    set lease_owner = ${nodeId}, lease_until = ${until(leaseMs)}, lease_epoch = builds.lease_epoch + 1,
      crashed_servers = builds.crashed_servers + (builds.lease_owner is not null)::integer,
      started_at = coalesce(builds.started_at, now()), updated_at = now()
    from candidate where builds.id = candidate.id
    returning builds.*, candidate.was_started
  `.execute(tx);
  const [row] = rows;
  return row ? { build: row, buildId: row.id, epoch: row.lease_epoch, wasInterrupted: row.was_started } : null;
}

export async function renewBuild(
  db: Kysely<Tables>,
  { buildId, epoch }: BuildFence,
  leaseMs: number,
): Promise<"held" | "cancel" | "lost"> {
  const row = await db
    .updateTable("environment_builds")
    .set({ lease_until: until(leaseMs) })
    .where("id", "=", buildId)
    .where("lease_epoch", "=", epoch)
    .where("status", "=", "IN_PROGRESS")
    .returning("cancel_requested_at")
    .executeTakeFirst();
  if (!row) return "lost";
  return row.cancel_requested_at === null ? "held" : "cancel";
}

/** Lets another server claim it at once. */
export async function releaseBuild(db: Kysely<Tables>, { buildId, epoch }: BuildFence): Promise<void> {
  await db
    .updateTable("environment_builds")
    .set({ lease_owner: null, lease_until: null, lease_epoch: epoch + 1 })
    .where("id", "=", buildId)
    .where("lease_epoch", "=", epoch)
    .where("status", "=", "IN_PROGRESS")
    .execute();
  await notify(db, "environment_builds", buildId);
}

export interface BuildContent {
  contentKey: string;
  configDigest: string;
  commits: RepositoryCommit[];
  /** Where the configuration is from; null: from the environment itself. */
  repoFile: { url: string; path: string } | null;
}

export async function recordContent(
  db: Queries,
  { buildId, epoch }: BuildFence,
  { contentKey, configDigest, commits, repoFile }: BuildContent,
): Promise<void> {
  const row = await db
    .updateTable("environment_builds")
    .set({
      content_key: contentKey,
      config_digest: configDigest,
      commits: JSON.stringify(commits),
      updated_at: new Date(),
    })
    .where("id", "=", buildId)
    .where("lease_epoch", "=", epoch)
    .returning("environment_id")
    .executeTakeFirst();
  if (!row) return;
  await db
    .updateTable("environments")
    .set({ repo_file: repoFile === null ? null : JSON.stringify(repoFile) })
    .where("id", "=", row.environment_id)
    .execute();
}

export type BuildEnd =
  | { status: "SUCCEEDED"; output: string }
  | { status: "FAILED"; failure: BuildFailure; output: string | null }
  | { status: "CANCELLED" }
  | { status: "SKIPPED" };

export interface BuildEndHost {
  platform: { db: Kysely<Tables> };
  announceDraft(tx: Queries, buildId: string): Promise<void>;
}

/** Writes the end and, of a build that succeeded and is not a draft, makes it active: both or neither. False: not its driver. */
export async function endBuild(
  { platform: { db }, announceDraft }: BuildEndHost,
  { buildId, epoch }: BuildFence,
  end: BuildEnd,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const now = new Date();
    const ended = await tx
      .updateTable("environment_builds")
      .set({
        status: end.status,
        ...(end.status === "FAILED" && { failure_type: end.failure.type, failure_code: end.failure.code ?? null }),
        ...("output" in end && { output: end.output }),
        ...{ completed_at: now, updated_at: now, lease_owner: null, lease_until: null },
      })
      .where("id", "=", buildId)
      .where("lease_epoch", "=", epoch)
      .where("status", "=", "IN_PROGRESS")
      .returningAll()
      .executeTakeFirst();
    if (!ended) return false;
    if (end.status === "SUCCEEDED" && !ended.draft) await activateBuild(tx, ended);
    if (end.status === "SUCCEEDED" && ended.draft && ended.requested_by !== null) await announceDraft(tx, buildId);
    await notify(tx, "environment_build_logs", buildId);
    // The next one of the environment may begin.
    await notify(tx, "environment_builds", buildId);
    return true;
  });
}

/** Of the active build; null where there is none, or where it is not known. */
export async function activeContentKey(db: Queries, environmentId: string): Promise<string | null> {
  const row = await db
    .selectFrom("environments")
    .innerJoin("environment_builds", "environment_builds.id", "environments.active_build_id")
    .select("environment_builds.content_key")
    .where("environments.id", "=", environmentId)
    .executeTakeFirst();
  return row?.content_key ?? null;
}
