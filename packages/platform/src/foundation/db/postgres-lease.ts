// A lease on the embedded PostgreSQL: restarted when it crashes, stopped by the last process that releases its lease.
import type pg from "pg";
import type { Log } from "../telemetry/index.ts";
import { removeSocketDirectory } from "./cluster-paths.ts";
import type { Connection } from "./connect.ts";
import { type AttachedCluster, attachOrStart, type EmbeddedOptions } from "./embedded.ts";
import { stopPostmaster } from "./postmaster.ts";
import { openReconnecting } from "./reconnecting-connection.ts";

const lockNumber = 7420_0002;

export interface PostgresLease {
  connectionTo(database: string): Connection;
  /** Makes the database unless it is there. */
  provide(database: string): Promise<Connection>;
  release(): Promise<void>;
}

export async function leasePostgres(options: EmbeddedOptions, log: Log): Promise<PostgresLease> {
  const first = await attachAndHold(options);
  const ready = [first.client];
  const reconnecting = await openReconnecting({
    purpose: "embedded server",
    log,
    connect: async () => ready.pop() ?? (await attachAndHold(options)).client,
    prepare: async () => {},
    beat: (client) => client.query("select 1"),
    onReturn() {},
  });
  return {
    connectionTo: first.connectionTo,
    async provide(database) {
      await createDatabase(await reconnecting.client(), database);
      return first.connectionTo(database);
    },
    release: () =>
      reconnecting.close(async (client) => {
        if (!(await isLastHolder(client))) return;
        await stopPostmaster(first.paths);
        removeSocketDirectory(first.paths);
      }),
  };
}

/** A process that stops the server holds the lock meanwhile: we wait for it, are disconnected, and start the server again. */
async function attachAndHold(options: EmbeddedOptions): Promise<AttachedCluster> {
  for (let tries = 1; ; tries++) {
    const attached = await attachOrStart(options);
    try {
      await attached.client.query("select pg_advisory_lock_shared($1)", [lockNumber]);
      return attached;
    } catch (error) {
      if (tries === maxTries) throw error;
    }
  }
}

const maxTries = 5;

async function isLastHolder(client: pg.Client): Promise<boolean> {
  await client.query("select pg_advisory_unlock_shared($1)", [lockNumber]);
  const { rows } = await client.query<{ alone: boolean }>("select pg_try_advisory_lock($1) as alone", [lockNumber]);
  return rows[0]?.alone ?? false;
}

const duplicateDatabase = "42P04";
const uniqueViolation = "23505";

async function createDatabase(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (rowCount) return;
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    // Another server was quicker.
    if (![duplicateDatabase, uniqueViolation].includes((error as pg.DatabaseError).code ?? "")) throw error;
  }
}
