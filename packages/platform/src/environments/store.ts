// Environments and their versions in the database.
import { randomUUID } from "node:crypto";
import type { ChangeEnvironment, CreateEnvironment } from "@agentcli/protocol/api";
import { type Selectable, sql } from "kysely";
import {
  ApiError,
  type DataKey,
  type EnvironmentTable,
  type EnvironmentVersionTable,
  isUniqueViolation,
  type Position,
  type Queries,
} from "../foundation/index.ts";
import { refuseFormerUser } from "../identity/index.ts";

export type EnvironmentRow = Selectable<EnvironmentTable>;
export type VersionRow = Selectable<EnvironmentVersionTable>;

export const configAad = (versionId: string): string => `environment-config:${versionId}`;

export interface NewEnvironment extends Omit<CreateEnvironment, "owner"> {
  teamId: number;
  /** Null: of the team. */
  userId: number | null;
  key: DataKey;
}

const defaultIntervalHours = 24;

/** Throws ApiError `environment_name_conflict`. */
export async function insertEnvironment(tx: Queries, environment: NewEnvironment): Promise<EnvironmentRow> {
  const { teamId, userId, name, repos, key, environmentJson } = environment;
  const [id, versionId] = [randomUUID(), randomUUID()];
  await refuseFormerUser(tx);
  await refuseTakenName(tx, { teamId, userId, name });
  const row = await tx
    .insertInto("environments")
    .values({
      id,
      team_id: teamId,
      user_id: userId,
      name,
      repos: JSON.stringify(repos),
      version_id: versionId,
      // The first build is requested when it is created.
      next_build_at: new Date(Date.now() + (environment.buildIntervalHours ?? defaultIntervalHours) * 3_600_000),
      ...settingsOf(environment),
      ...stamps(new Date()),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(asNameConflict(name));
  await insertVersion(tx, row, {
    id: versionId,
    number: 1,
    kind: "created",
    title: "Created",
    description: `The environment ${JSON.stringify(name)} was created.`,
    config: key.seal(environmentJson, configAad(versionId)),
  });
  return row;
}

type Settings = Pick<ChangeEnvironment, "buildIntervalHours" | "updateStaleBuilds" | "stalenessThresholdHours">;

/** Those that are given. */
const settingsOf = ({ buildIntervalHours, updateStaleBuilds, stalenessThresholdHours }: Settings) => ({
  ...(buildIntervalHours !== undefined && { build_interval_hours: buildIntervalHours }),
  ...(updateStaleBuilds !== undefined && { update_stale_builds: updateStaleBuilds }),
  ...(stalenessThresholdHours !== undefined && { staleness_hours: stalenessThresholdHours }),
});

const stamps = (now: Date) => ({ created_at: now, updated_at: now });

interface Named {
  teamId: number;
  userId: number | null;
  name: string;
}

/** With the id of the one that has the name, so that a client that repeats its request finds it. */
async function refuseTakenName(tx: Queries, { teamId, userId, name }: Named): Promise<void> {
  const other = await tx
    .selectFrom("environments")
    .select("id")
    .where("team_id", "=", teamId)
    .where("user_id", "is not distinct from", userId)
    .where("name", "=", name)
    .executeTakeFirst();
  if (other) throw nameConflict(name, other.id);
}

const nameConflict = (name: string, environmentId?: string): ApiError =>
  new ApiError(
    "environment_name_conflict",
    `name: there is an environment ${JSON.stringify(name)} already; choose another name or change that one.`,
    { ...(environmentId && { members: { environmentId } }) },
  );

/** Two at once: the index decides. */
const asNameConflict =
  (name: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw nameConflict(name);
    throw error;
  };

type NewVersion = Pick<VersionRow, "id" | "number" | "kind" | "title" | "description" | "config">;

async function insertVersion(tx: Queries, { id }: Pick<EnvironmentRow, "id">, version: NewVersion): Promise<void> {
  await tx
    .insertInto("environment_versions")
    .values({ ...version, environment_id: id, source: "api", created_at: new Date() })
    .execute();
}

export async function readVersion(db: Queries, versionId: string): Promise<VersionRow> {
  return db.selectFrom("environment_versions").selectAll().where("id", "=", versionId).executeTakeFirstOrThrow();
}

/** All at once or nothing. `isNewConfig`: whether the configuration is another one now. */
export async function changeEnvironment(
  tx: Queries,
  { environment, key }: { environment: EnvironmentRow; key: DataKey },
  change: ChangeEnvironment,
): Promise<{ isNewConfig: boolean }> {
  const { id, team_id: teamId, user_id: userId } = environment;
  const locked = await tx.selectFrom("environments").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!locked) throw notFound(id);
  const former = await readVersion(tx, locked.version_id);
  const text = key.openText(former.config, configAad(former.id));
  const { name = locked.name, environmentJson = text } = change;
  if (name !== locked.name) await refuseTakenName(tx, { teamId, userId, name });
  const isNewConfig = environmentJson !== text;
  const versionId = randomUUID();
  await insertVersion(tx, locked, {
    id: versionId,
    number: former.number + 1,
    kind: "updated",
    title: isNewConfig ? "Configuration changed" : name === locked.name ? "Settings changed" : "Renamed",
    description: describeChange({ isNewConfig, name, formerName: locked.name }),
    config: key.seal(environmentJson, configAad(versionId)),
  });
  await tx
    .updateTable("environments")
    .set({ name, version_id: versionId, ...settingsOf(change), updated_at: new Date() })
    .where("id", "=", id)
    .execute()
    .catch(asNameConflict(name));
  return { isNewConfig };
}

function describeChange({ isNewConfig, name, formerName }: { isNewConfig: boolean; name: string; formerName: string }) {
  const renamed = name === formerName ? [] : [`Renamed from ${JSON.stringify(formerName)} to ${JSON.stringify(name)}.`];
  const changed = isNewConfig ? ["The configuration was replaced."] : [];
  return [...renamed, ...changed].join(" ") || "The settings were changed.";
}

export async function deleteEnvironment(db: Queries, id: string): Promise<void> {
  await db.deleteFrom("environments").where("id", "=", id).execute();
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of another team is the same as not there. */
export async function findEnvironment(db: Queries, teamId: number, id: string): Promise<EnvironmentRow> {
  const row = uuid.test(id)
    ? await db
        .selectFrom("environments")
        .selectAll()
        .where("id", "=", id.toLowerCase())
        .where("team_id", "=", teamId)
        .executeTakeFirst()
    : undefined;
  if (!row) throw notFound(id);
  return row;
}

export const notFound = (id: string): ApiError =>
  new ApiError("environment_not_found", `There is no environment ${id.slice(0, 100)}.`);

export interface EnvironmentFilter {
  teamId: number;
  /** Personal ones of this user beside the team's; null: only the team's. */
  userId: number | null;
}

/** Most recently changed first; one more than the limit where there is a next page. */
export function listEnvironments(
  db: Queries,
  { teamId, userId }: EnvironmentFilter,
  { limit, after }: { limit: number; after: Position | null },
): Promise<EnvironmentRow[]> {
  let query = db
    .selectFrom("environments")
    .selectAll()
    .where("team_id", "=", teamId)
    .where(({ eb, or }) => or([eb("user_id", "is", null), ...(userId === null ? [] : [eb("user_id", "=", userId)])]))
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(updated_at, id) < (${after.createdAt}, ${after.id}::uuid)`);
  return query.execute();
}

/** The user's own before the team's. */
export async function listEnvironmentsNamed(db: Queries, { teamId, userId, name }: Named): Promise<EnvironmentRow[]> {
  const rows = await db
    .selectFrom("environments")
    .selectAll()
    .where("team_id", "=", teamId)
    .where("name", "=", name)
    .where(({ eb, or }) => or([eb("user_id", "is", null), ...(userId === null ? [] : [eb("user_id", "=", userId)])]))
    .execute();
  return rows.toSorted((one, other) => Number(one.user_id === null) - Number(other.user_id === null));
}

/** Newest first, before the version with that number. */
export function listVersions(
  db: Queries,
  environmentId: string,
  { limit, before }: { limit: number; before: number },
): Promise<VersionRow[]> {
  return db
    .selectFrom("environment_versions")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .where("number", "<", before)
    .orderBy("number", "desc")
    .limit(limit + 1)
    .execute();
}
