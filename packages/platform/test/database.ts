// A database of its own for each test file: copied from a migrated template on a server that the test files share.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Kysely } from "kysely";
import type pg from "pg";
import { type Connection, openClient, openQueries } from "../src/db/connect.ts";
import { type EmbeddedShare, holdEmbedded } from "../src/db/hold.ts";
import { migrate } from "../src/db/migrate.ts";
import type { Tables } from "../src/db/tables/index.ts";
import { silentLog } from "../src/telemetry/index.ts";

export interface TestDatabase {
  db: Kysely<Tables>;
  /** For a server that is started as a program. */
  url: string;
  connection: Connection;
  /** Also lets go of the server; the last test file to do so stops it. */
  close(): Promise<void>;
}

/** Kept from one run of the tests to the next: making a cluster takes a second, starting one a twentieth. */
const cache = fileURLToPath(new URL("../../../node_modules/.cache/platform-tests", import.meta.url));

export const freshDatabase = (): Promise<TestDatabase> => openTestDatabase(provideTemplate);

/** As a server finds it that was never used. */
export const emptyDatabase = (): Promise<TestDatabase> => openTestDatabase(async () => "template0");

async function openTestDatabase(
  provide: (client: pg.Client, share: EmbeddedShare) => Promise<string>,
): Promise<TestDatabase> {
  const share = await holdEmbedded({ dataDirectory: cache, variables: process.env, durability: "none" }, silentLog);
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await withMaintenance(share, async (client) => {
    const template = await provide(client, share);
    await dropLeftovers(client);
    await client.query(`create database ${name} template ${template}`);
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

async function withMaintenance(share: EmbeddedShare, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = await openClient(share.connectionTo("postgres"));
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** Named after the migrations it holds. Test processes that want it at once wait for the first of them. */
async function provideTemplate(client: pg.Client, share: EmbeddedShare): Promise<string> {
  const name = `template_${migrationsHash()}`;
  await client.query("select pg_advisory_lock(1)");
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (!rowCount) {
    await client.query(`drop database if exists ${name}_new with (force)`);
    const connection = await share.provide(`${name}_new`);
    const db = openQueries(connection, 2, () => {});
    await migrate(db, connection);
    await db.destroy();
    await client.query(`alter database ${name}_new rename to ${name}`);
  }
  await client.query("select pg_advisory_unlock(1)");
  return name;
}

function migrationsHash(): string {
  const folder = fileURLToPath(new URL("../src/db/migrations", import.meta.url));
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

/** What killed test processes left behind. */
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
