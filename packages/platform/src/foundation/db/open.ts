// The database of a server: the embedded one or the one of DATABASE_URL, migrated and ready.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { type Log, silentLog } from "../telemetry/index.ts";
import { nativeFolder } from "./binaries.ts";
import { type Connection, openQueries } from "./connect.ts";
import { DatabaseError } from "./database-error.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { leasePostgres } from "./postgres-lease.ts";
import { refuseHalfRestored, refuseHalfRestoredTables } from "./restore-marker.ts";
import type { Tables } from "./tables/index.ts";

export interface DatabaseSettings {
  dataDirectory: string;
  /** Null: the embedded server. */
  databaseUrl: string | null;
  databaseConnections: number;
  variables: NodeJS.ProcessEnv;
}

export interface Database {
  db: Kysely<Tables>;
  connection: Connection;
  migrated: string[];
  close(): Promise<void>;
}

/** Refused after an interrupted restore: a backup of it would look whole. */
export async function openDatabase(settings: DatabaseSettings, log: Log, upTo?: string): Promise<Database> {
  refuseHalfRestored(settings.dataDirectory);
  return openMigrated(settings, log, { upTo, check: refuseHalfRestoredTables });
}

/** For the restore itself. `upTo` names the last migration to apply; without it, all are applied. */
export const openRestoringDatabase = (settings: DatabaseSettings, log: Log, upTo?: string): Promise<Database> =>
  openMigrated(settings, log, { upTo, check: async () => {} });

interface OpenOptions {
  upTo: string | undefined;
  /** Before anything changes. */
  check(db: Kysely<Tables>): Promise<void>;
}

async function openMigrated(settings: DatabaseSettings, log: Log, { upTo, check }: OpenOptions): Promise<Database> {
  const server = await openServer(settings, log);
  const db = openQueries(server.connection, settings.databaseConnections, (error) =>
    log.warn("database.connection_lost", { purpose: "queries", reason: error.message }),
  );
  const close = async () => {
    await db.destroy();
    await server.release();
  };
  try {
    await check(db);
    const migrated = await migrate(db, server.connection, upTo);
    return { db, connection: server.connection, migrated, close };
  } catch (error) {
    await close();
    throw explain(error, settings);
  }
}

/** What a start would find. */
export type Inspection =
  | { kind: "none"; where: string }
  | { kind: "there"; version: string; pending: string[]; key: StoredKey | null };

interface StoredKey {
  fingerprint: string;
  authentication_key: Buffer | null;
}

/** Looks and changes nothing. A server that does not run is started for the look. */
export async function inspectDatabase(settings: DatabaseSettings): Promise<Inspection> {
  const cluster = join(settings.dataDirectory, "postgres");
  if (settings.databaseUrl === null && !existsSync(join(cluster, "PG_VERSION"))) {
    nativeFolder(); // Says what to do where there is none.
    return { kind: "none", where: cluster };
  }
  const server = await openServer(settings, silentLog);
  const db = openQueries(server.connection, 1, () => {});
  try {
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db);
    const pending = await pendingMigrations(db);
    const key = pending.length > 0 ? null : await readStoredKey(db);
    return { kind: "there", version: rows[0]?.version ?? "", pending, key };
  } catch (error) {
    throw explain(error, settings);
  } finally {
    await db.destroy();
    await server.release();
  }
}

async function readStoredKey(db: Kysely<Tables>): Promise<StoredKey | null> {
  const query = db.selectFrom("key_encryption_keys").select(["fingerprint", "authentication_key"]);
  return (await query.executeTakeFirst()) ?? null;
}

interface Server {
  connection: Connection;
  release(): Promise<void>;
}

const databaseName = "platform";

async function openServer(settings: DatabaseSettings, log: Log): Promise<Server> {
  const { databaseUrl: url, dataDirectory, variables } = settings;
  if (url !== null) return { connection: { url }, release: async () => {} };
  const share = await leasePostgres({ dataDirectory, variables, durability: "full" }, log);
  return { connection: await share.provide(databaseName), release: share.release };
}

/** The address may hold a password: only its host is named. */
function explain(error: unknown, { databaseUrl }: DatabaseSettings): unknown {
  if (error instanceof DatabaseError || databaseUrl === null) return error;
  const where = URL.canParse(databaseUrl) ? new URL(databaseUrl).host : "DATABASE_URL";
  return new DatabaseError(
    `Cannot open the PostgreSQL database at ${where}: ${(error as Error).message}. Check DATABASE_URL and that the server is running.`,
    { cause: error },
  );
}
