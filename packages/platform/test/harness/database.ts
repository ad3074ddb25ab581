// A separate database for each test file: copied from a migrated template on a server that the test files share.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "@agentcli/testkit";
import type { Kysely } from "kysely";
import type pg from "pg";
import { type Connection, openClient, openQueries } from "../../src/foundation/db/connect.ts";
import { migrate } from "../../src/foundation/db/migrate.ts";
import { leasePostgres, type PostgresLease } from "../../src/foundation/db/postgres-lease.ts";
import type { Tables } from "../../src/foundation/db/tables/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";

export interface TestDatabase {
  db: Kysely<Tables>;
  /** For a server that runs as a separate process. */
  url: string;
  connection: Connection;
  /** Also releases the server; the last test file to do so stops it. */
  close(): Promise<void>;
}

/**
 * A run of all tests names a directory in memory. Files that are tried by hand share one on disk that is kept:
 * creating a cluster takes a second, starting one 50 ms.
 */
const cluster = process.env.TEST_CLUSTER ?? join(projectRoot, "node_modules/.cache/platform-tests");

/** `version` identifies the migrations in the template; by default those of the sources. */
export const freshDatabase = (version = `source_${migrationsHash()}`): Promise<TestDatabase> =>
  openTestDatabase((client, share) => provideTemplate(version, client, share));

/** An empty database, as at the first start of a server. */
export const emptyDatabase = (): Promise<TestDatabase> => openTestDatabase(async () => "template0");

async function openTestDatabase(
  provide: (client: pg.Client, share: PostgresLease) => Promise<string>,
): Promise<TestDatabase> {
  const share = await leasePostgres({ dataDirectory: cluster, variables: process.env, durability: "none" }, silentLog);
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await withMaintenance(share, async (client) => {
    const template = await provide(client, share);
    await dropLeftovers(client);
    // Copied as files, not through the log: a sixth of the processor time where they are in memory.
    await client.query(`create database ${name} template ${template} strategy file_copy`);
  });
  const connection = share.connectionTo(name);
  const db = openQueries(connection, 10, () => {});
  return {
    db,
    connection,
    url: urlOf(connection),
    async close() {
      await db.destroy();
      await withMaintenance(share, (client) => client.query(`drop database ${name} with (force)`));
      await share.release();
    },
  };
}

async function withMaintenance(share: PostgresLease, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = await openClient(share.connectionTo("postgres"));
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** Concurrent test processes wait for the first of them. */
async function provideTemplate(version: string, client: pg.Client, share: PostgresLease): Promise<string> {
  const name = `template_${version}`;
  await client.query("select pg_advisory_lock(1)");
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (!rowCount) {
    await dropDatabases(client, `^template_${version.split("_")[0]}_`);
    const connection = await share.provide(`${name}_new`);
    const db = openQueries(connection, 2, () => {});
    await migrate(db, connection);
    await db.destroy();
    await client.query(`alter database ${name}_new rename to ${name}`);
  }
  await client.query("select pg_advisory_unlock(1)");
  return name;
}

/** Templates of earlier versions. */
async function dropDatabases(client: pg.Client, pattern: string): Promise<void> {
  const { rows } = await client.query<{ datname: string }>("select datname from pg_database where datname ~ $1", [
    pattern,
  ]);
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
}

function migrationsHash(): string {
  const folder = fileURLToPath(new URL("../../src/foundation/db/migrations", import.meta.url));
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

/** Removes leftovers of killed test processes. */
async function dropLeftovers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    "select datname from pg_database where datname ~ '^test_\\d+_'",
  );
  for (const { datname } of rows)
    if (!isAlive(Number(datname.split("_")[1]))) await client.query(`drop database if exists ${datname} with (force)`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function urlOf(connection: Connection): string {
  if ("url" in connection) return connection.url;
  const { socketDirectory, password, database } = connection;
  return `postgres://platform:${password}@${encodeURIComponent(socketDirectory)}/${database}`;
}
