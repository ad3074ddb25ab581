// Secrets in the database. A name has one version, or several for different repositories; a value is sealed for its version.
import { randomBytes } from "node:crypto";
import { maxSecretsPerOwner, type SecretPhase, type SecretType } from "@agentcli/protocol/api";
import type { Kysely, Selectable } from "kysely";
import {
  ApiError,
  type DataKey,
  type Queries,
  type SecretTable,
  type Tables,
  type Vault,
} from "../foundation/index.ts";
import { refuseFormerUser } from "../identity/index.ts";
import { refuseUnboundable } from "./binding.ts";
import { refuseUnusableRole } from "./cloud-role.ts";
import type { SecretOwnerId } from "./owner.ts";

export interface SecretStore {
  db: Kysely<Tables>;
  vault: Vault;
}

export type SecretRow = Selectable<SecretTable>;

export interface SecretChange {
  name: string;
  /** Which version. */
  id?: string | undefined;
  value: string;
  type?: SecretType | undefined;
  phase?: SecretPhase | undefined;
  repos?: string[] | undefined;
  hosts?: string[] | undefined;
  uses?: string[] | undefined;
  /** Adds another version to a name that has some. */
  isAddition?: boolean;
  /** Build secrets are for operators. */
  isOverApi?: boolean;
}

export interface SetResult {
  version: SecretRow;
  isNew: boolean;
}

/** Throws ApiError. */
export const setSecret = async (store: SecretStore, owner: SecretOwnerId, change: SecretChange): Promise<SetResult> =>
  (await setSecrets(store, owner, [change]))[0] as SetResult;

/** All or none. Throws ApiError. */
export const setSecrets = (
  { db, vault }: SecretStore,
  owner: SecretOwnerId,
  changes: SecretChange[],
): Promise<SetResult[]> =>
  db.transaction().execute(async (tx) => {
    const key = await lockTeam(tx, vault, owner.teamId);
    const results: SetResult[] = [];
    for (const change of changes) results.push(await setOne({ tx, key }, owner, change));
    return results;
  });

async function setOne(
  { tx, key }: { tx: Queries; key: DataKey },
  owner: SecretOwnerId,
  change: SecretChange,
): Promise<SetResult> {
  const versions = await versionsOf(tx, owner, change.name);
  const former = change.isAddition ? undefined : choose(versions, change);
  if (change.isOverApi && former?.type === "build_secret") throw isBuildSecret(change.name);
  const { repos = former?.repos ?? [] } = change;
  refuseUnusableRole(change);
  await refuseUnboundable(change, former);
  const others = versions.filter(({ id }) => id !== former?.id);
  refuseOverlap(change.name, repos, others);
  if (former) return { version: await replace(tx, { ...change, repos, former }, key), isNew: false };
  await refuseTooMany(tx, owner);
  return { version: await insert(tx, { ...change, repos, owner }, key), isNew: true };
}

/** Throws ApiError `secret_not_found` or `secret_name_ambiguous`. */
export async function removeSecret(
  { db }: Pick<SecretStore, "db">,
  owner: SecretOwnerId,
  { name, id }: { name: string; id?: string | undefined },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const versions = (await rowsOf(tx, owner).where("name", "=", name).forUpdate().execute()) as SecretRow[];
    const version = choose(versions, { name, id });
    if (!version) throw notFound(name, id);
    await tx.deleteFrom("secrets").where("id", "=", version.id).execute();
  });
}

/** By name. */
export const listSecrets = (db: Queries, owner: SecretOwnerId): Promise<SecretRow[]> =>
  rowsOf(db, owner).orderBy("name").orderBy("id").execute();

/** Those of each owner, by name, in one query. */
export async function listSecretsOf(db: Queries, owners: SecretOwnerId[]): Promise<SecretRow[][]> {
  const rows = await db
    .selectFrom("secrets")
    .selectAll()
    .where(({ or, and, eb }) =>
      or(
        owners.map(({ teamId, userId, environmentId }) =>
          and([
            eb("team_id", "=", teamId),
            eb("user_id", "is not distinct from", userId),
            eb("environment_id", "is not distinct from", environmentId),
          ]),
        ),
      ),
    )
    .orderBy("name")
    .orderBy("id")
    .execute();
  return owners.map((owner) => rows.filter((row) => isOwnedBy(row, owner)));
}

const isOwnedBy = (row: SecretRow, { teamId, userId, environmentId }: SecretOwnerId): boolean =>
  row.team_id === teamId && row.user_id === userId && row.environment_id === environmentId;

export const readValue = (key: DataKey, { id, name, sealed }: SecretRow): string => key.openText(sealed, aad(id, name));

export async function teamKeyOf({ db, vault }: { db: Queries; vault: Vault }, teamId: number): Promise<DataKey> {
  const team = db.selectFrom("teams").select("data_key").where("id", "=", teamId);
  return vault.unwrap((await team.executeTakeFirstOrThrow()).data_key);
}

const aad = (id: string, name: string): string => `secret:${id}:${name}`;

const rowsOf = (db: Queries, { teamId, userId, environmentId }: SecretOwnerId) =>
  db
    .selectFrom("secrets")
    .selectAll()
    .where("team_id", "=", teamId)
    .where("user_id", "is not distinct from", userId)
    .where("environment_id", "is not distinct from", environmentId);

/** Changes of one team wait for each other, so that two at once do not both add a version. */
async function lockTeam(tx: Queries, vault: Vault, teamId: number): Promise<DataKey> {
  const team = tx.selectFrom("teams").select("data_key").where("id", "=", teamId).forNoKeyUpdate();
  return vault.unwrap((await team.executeTakeFirstOrThrow()).data_key);
}

/** Of the name in exactly these letters. Throws where it exists in others: programs on some systems see one variable. */
async function versionsOf(tx: Queries, owner: SecretOwnerId, name: string): Promise<SecretRow[]> {
  const all = await rowsOf(tx, owner).orderBy("created_at").orderBy("id").execute();
  const rows = all.filter((row) => row.name.toLowerCase() === name.toLowerCase());
  const variant = rows.find((row) => row.name !== name);
  if (!variant) return rows;
  throw new ApiError(
    "secret_name_conflict",
    `There is a secret ${variant.name} already, which differs from ${name} only in its case. Use that name, or remove it first.`,
  );
}

/** Undefined where the name has no version yet. */
function choose(versions: SecretRow[], { name, id }: { name: string; id?: string | undefined }): SecretRow | undefined {
  if (id !== undefined) {
    const version = versions.find((one) => one.id === id);
    if (!version) throw notFound(name, id);
    return version;
  }
  if (versions.length <= 1) return versions[0];
  const members = { versions: versions.map(({ id: versionId, repos }) => ({ id: versionId, repos })) };
  const message = `The secret ${name} has ${versions.length} versions for different repositories. Choose one of them with id.`;
  throw new ApiError("secret_name_ambiguous", message, { members });
}

const isBuildSecret = (name: string): ApiError =>
  new ApiError(
    "validation_error",
    `${name} is a build secret, which this API does not change. Use platform secrets set ${name} --phase build.`,
  );

const notFound = (name: string, id?: string): ApiError =>
  new ApiError(
    "secret_not_found",
    id === undefined
      ? `There is no secret ${name.slice(0, 255)}; names are case-sensitive.`
      : `There is no version ${id.slice(0, 100)} of a secret ${name.slice(0, 255)}.`,
  );

function refuseOverlap(name: string, repos: string[], others: SecretRow[]): void {
  const other = others.find((one) => overlaps(repos, one.repos));
  if (!other) return;
  const shared = other.repos.filter((one) => repos.length === 0 || repos.includes(one));
  const where = shared.length === 0 ? "all repositories" : shared.slice(0, 5).join(", ");
  const message = `The version ${other.id} of ${name} is for ${where} already. Choose other repositories, or change that version.`;
  throw new ApiError("secret_scope_conflict", message);
}

/** No repositories means all. */
const overlaps = (left: string[], right: string[]): boolean =>
  left.length === 0 || right.length === 0 || left.some((one) => right.includes(one));

async function refuseTooMany(tx: Queries, owner: SecretOwnerId): Promise<void> {
  const { count } = await rowsOf(tx, owner)
    .clearSelect()
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < maxSecretsPerOwner) return;
  const message = `There are ${maxSecretsPerOwner} secrets already, which is the limit. Remove one that is not used any more.`;
  throw new ApiError("secret_limit_reached", message);
}

async function insert(
  tx: Queries,
  { name, value, type = "runtime_secret", phase = phaseOf(type), repos, hosts = [], uses = [], owner }: NewSecret,
  key: DataKey,
): Promise<SecretRow> {
  await refuseFormerUser(tx);
  const id = `secv_${randomBytes(16).toString("base64url")}`;
  const now = new Date();
  return tx
    .insertInto("secrets")
    .values({
      ...{ id, team_id: owner.teamId, user_id: owner.userId, environment_id: owner.environmentId },
      ...{ name, type, phase, repos: JSON.stringify(repos), sealed: key.seal(value, aad(id, name)) },
      ...{ hosts: JSON.stringify(hosts), uses: JSON.stringify(uses), created_at: now, updated_at: now },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

type NewSecret = SecretChange & { repos: string[]; owner: SecretOwnerId };

function replace(
  tx: Queries,
  change: SecretChange & { repos: string[]; former: SecretRow },
  key: DataKey,
): Promise<SecretRow> {
  const { name, value, former, repos, type = former.type, phase, hosts = former.hosts } = change;
  const uses = change.uses ?? (hosts.length > 0 ? former.uses : []);
  const kept = type === former.type ? former.phase : phaseOf(type);
  return tx
    .updateTable("secrets")
    .set({
      ...{ type, phase: phase ?? kept, repos: JSON.stringify(repos) },
      ...{ hosts: JSON.stringify(hosts), uses: JSON.stringify(uses) },
      ...{ sealed: key.seal(value, aad(former.id, name)), updated_at: new Date() },
    })
    .where("id", "=", former.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

const phaseOf = (type: SecretType): SecretPhase => (type === "build_secret" ? "build" : "run");
