// The database of a server: the embedded one or the one of DATABASE_URL, migrated and ready.
import type { Kysely } from "kysely";
import type { Log } from "../telemetry/index.ts";
import { type Connection, openQueries } from "./connect.ts";
import { holdEmbedded } from "./hold.ts";
import { migrate } from "./migrate.ts";
import { DatabaseProblem } from "./problem.ts";
import type { Tables } from "./tables.ts";

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

export async function openDatabase(settings: DatabaseSettings, log: Log): Promise<Database> {
  const server = await openServer(settings, log);
  const db = openQueries(server.connection, settings.databaseConnections, (error) =>
    log.warn("database.connection_lost", { purpose: "queries", reason: error.message }),
  );
  const close = async () => {
    await db.destroy();
    await server.release();
  };
  try {
    const migrated = await migrate(db, server.connection);
    return { db, connection: server.connection, migrated, close };
  } catch (error) {
    await close();
    throw explain(error, settings);
  }
}

interface Server {
  connection: Connection;
  release(): Promise<void>;
}

const databaseName = "platform";

async function openServer(settings: DatabaseSettings, log: Log): Promise<Server> {
  const { databaseUrl: url, dataDirectory, variables } = settings;
  if (url !== null) return { connection: { url }, release: async () => {} };
  const share = await holdEmbedded({ dataDirectory, variables, durability: "full" }, log);
  return { connection: await share.provide(databaseName), release: share.release };
}

/** The address may hold a password: only its host is named. */
function explain(error: unknown, { databaseUrl }: DatabaseSettings): unknown {
  if (error instanceof DatabaseProblem || databaseUrl === null) return error;
  const where = URL.canParse(databaseUrl) ? new URL(databaseUrl).host : "DATABASE_URL";
  return new DatabaseProblem(
    `The PostgreSQL server ${where} cannot be used: ${(error as Error).message}. Check DATABASE_URL and that the server runs.`,
    { cause: error },
  );
}
