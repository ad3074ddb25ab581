// Connections, and rows as the tables declare them.
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { limitRequests } from "./request-timeout.ts";
import type { Tables } from "./tables/index.ts";

/** Of one database of one server. */
export type Connection = { url: string } | { socketDirectory: string; password: string; database: string };

/**
 * Queries of background work have no time limit: some have much to do, and one that waits for a database that hangs goes on
 * with it. But a database that is gone without a word must be noticed; by default the system asks after two hours.
 */
const silenceBeforeProbeMs = 30_000;

export function clientOptions(connection: Connection): pg.ClientConfig {
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: silenceBeforeProbeMs };
  const shared = { types, application_name: "platform", ...keepAlive, connectionTimeoutMillis: 10_000 };
  if ("url" in connection) return { ...shared, connectionString: connection.url };
  const { socketDirectory: host, password, database } = connection;
  return { ...shared, host, port: 5432, user: "platform", password, database };
}

/** A connection of its own. */
export async function openClient(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client(clientOptions(connection));
  client.on("error", noticedLater);
  await client.connect();
  return client;
}

export function openQueries(connection: Connection, most: number, onError: (error: Error) => void): Kysely<Tables> {
  const pool = limitRequests(openPool(connection, most, onError));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

export function openPool(connection: Connection, most: number, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({ ...clientOptions(connection), max: most });
  // An idle connection that is lost is replaced with the next query.
  pool.on("error", onError);
  pool.on("connect", (client) => client.on("error", noticedLater));
  return pool;
}

/**
 * A connection can be lost between two queries of a transaction, when no query waits for it: the next query fails, and
 * that is soon enough. Without a listener the loss would end the program.
 */
const noticedLater = (): void => {};

const bigint = 20;

/** The driver reads bigint as text; every number of ours fits. numeric stays text, so that money is not rounded. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === bigint && format !== "binary"
      ? safeInteger
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`bigint ${text} does not fit a number`);
  return value;
}
