// Stores the credentials of teams for git hosts. Each is sealed with the team's data key, for its host and kind.
import type { Credential, CredentialKind, CredentialName } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import type { DataKey, Tables, Vault } from "../../foundation/index.ts";
import type { StoredCredential } from "./value.ts";

export interface CredentialStore {
  db: Kysely<Tables>;
  vault: Vault;
}

/** A host has one credential for http, either a token or a user with a password; setting one replaces the other. */
export async function setCredential(
  { db, vault }: CredentialStore,
  teamId: number,
  credential: StoredCredential,
): Promise<void> {
  const { host, kind } = credential;
  const key = await keyOf({ db, vault }, teamId);
  const sealed = key.seal(JSON.stringify(credential), sealContext(teamId, credential));
  await db.transaction().execute(async (tx) => {
    const replaced = kind === "token" ? "basic" : kind === "basic" ? "token" : undefined;
    if (replaced !== undefined) await deleteRow(tx, teamId, { host, kind: replaced });
    await tx
      .insertInto("source_credentials")
      .values({ team_id: teamId, host, kind, sealed })
      .onConflict((conflict) =>
        conflict.columns(["team_id", "host", "kind"]).doUpdateSet({ sealed, updated_at: new Date() }),
      )
      .execute();
  });
}

/** Without values. */
export async function listCredentials({ db, vault }: CredentialStore, teamId: number): Promise<Credential[]> {
  const rows = await db
    .selectFrom("source_credentials")
    .selectAll()
    .where("team_id", "=", teamId)
    .orderBy("host")
    .orderBy("kind")
    .execute();
  if (rows.length === 0) return [];
  const key = await keyOf({ db, vault }, teamId);
  return rows.map(({ host, kind, sealed, created_at, updated_at }) => {
    const { user, fingerprints } = open(key, sealed, { teamId, host, kind });
    return {
      ...{ host, kind, ...(user !== undefined && { user }), ...(fingerprints !== undefined && { fingerprints }) },
      ...{ createdAt: created_at.toISOString(), updatedAt: updated_at.toISOString() },
    };
  });
}

/** Whether there was one. */
export async function removeCredential(
  { db }: Pick<CredentialStore, "db">,
  teamId: number,
  name: CredentialName,
): Promise<boolean> {
  return (await deleteRow(db, teamId, name)) > 0;
}

/** Of these kinds, for this host of this team and no other; without a host, for all hosts. */
export async function findCredentials(
  { db, vault }: CredentialStore,
  { teamId, host: only }: { teamId: number; host?: string },
  kinds: CredentialKind[],
): Promise<StoredCredential[]> {
  const rows = await db
    .selectFrom("source_credentials")
    .select(["host", "kind", "sealed"])
    .where("team_id", "=", teamId)
    .$if(only !== undefined, (query) => query.where("host", "=", only ?? ""))
    .where("kind", "in", kinds)
    .orderBy("host")
    .execute();
  if (rows.length === 0) return [];
  const key = await keyOf({ db, vault }, teamId);
  return rows.map(({ host, kind, sealed }) => open(key, sealed, { teamId, host, kind }));
}

async function deleteRow(db: Kysely<Tables>, teamId: number, { host, kind }: CredentialName): Promise<number> {
  const query = db.deleteFrom("source_credentials").where("team_id", "=", teamId);
  const { numDeletedRows } = await query.where("host", "=", host).where("kind", "=", kind).executeTakeFirst();
  return Number(numDeletedRows);
}

const open = (
  key: DataKey,
  sealed: Buffer,
  { teamId, ...name }: CredentialName & { teamId: number },
): StoredCredential => JSON.parse(key.openText(sealed, sealContext(teamId, name)));

const sealContext = (teamId: number, { host, kind }: CredentialName): string =>
  `source-credential:${teamId}:${host}:${kind}`;

async function keyOf({ db, vault }: CredentialStore, teamId: number): Promise<DataKey> {
  const team = db.selectFrom("teams").select("data_key").where("id", "=", teamId);
  return vault.unwrap((await team.executeTakeFirstOrThrow()).data_key);
}
