// A pool whose connections are set for the actor, and whose queries end in time where they belong to a request: a
// database that hangs keeps no client waiting.
import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import { isSetForActor, requestTimeoutMs, setActor } from "./actor.ts";
import { nameOfPrepared } from "./prepared.ts";

/** Whether the statement was executed is unknown. */
export class DatabaseTimeout extends Error {
  override name = "DatabaseTimeout";
}

export function limitRequests(pool: pg.Pool): PostgresPool {
  // kysely recognizes a connection by its client.
  const limited = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      preferConnection(pool, isSetForActor);
      const client = await connectInTime(pool);
      const known = limited.get(client) ?? limitQueries(client);
      limited.set(client, known);
      await setActor(client, (text, values) => known.query(text, values));
      return known;
    },
    end: () => pool.end(),
  };
}

/**
 * The pool gives the last of its idle connections. Between the queries of requests and those of runs, a fifth of all
 * statements before the first model request only set the actor. Where none is set for it, the one that was used least
 * lately is: the actor of the last one is likely to need it again at once.
 */
function preferConnection(pool: pg.Pool, isPreferred: (client: pg.PoolClient) => boolean): void {
  const { _idle: idle } = pool as unknown as { _idle: { client: pg.PoolClient }[] };
  const index = Math.max(
    0,
    idle.findLastIndex(({ client }) => isPreferred(client)),
  );
  if (index < idle.length - 1) idle.push(...idle.splice(index, 1));
}

async function connectInTime(pool: pg.Pool): Promise<pg.PoolClient> {
  const limitMs = requestTimeoutMs();
  // An idle connection is given at once, unless others wait for one too.
  if (limitMs === null || pool.idleCount > pool.waitingCount) return pool.connect();
  const connecting = pool.connect();
  let giveUp: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = setTimeout(() => {
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      reject(new DatabaseTimeout(`no connection to the database within ${limitMs} ms`));
    }, limitMs);
  });
  return Promise.race([connecting, tooLong]).finally(() => clearTimeout(giveUp));
}

/** The server cancels a statement in time if it can; this is for one that hangs. */
const graceMs = 500;

const changedResultType = "0A000";

/** As the driver does it for a name, which copies its options property by property first: as much work as the rest. */
function queryNamed(
  client: pg.PoolClient,
  { name, text, values }: { name: string; text: string; values: unknown[] },
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query<pg.QueryResultRow, unknown[]>(text, values);
    Object.assign(query, {
      name,
      callback: (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result)),
    });
    client.query(query);
  });
}

function limitQueries(client: pg.PoolClient): PostgresPoolClient {
  let timeout: DatabaseTimeout | null = null;
  async function send(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const name = nameOfPrepared(text);
    if (name === undefined) return client.query(text, values);
    try {
      return await queryNamed(client, { name, text, values });
    } catch (error) {
      // A migration of another server has changed the type of a column: only a new connection prepares it anew.
      if ((error as { code?: string }).code === changedResultType) client.connection.stream.destroy();
      throw error;
    }
  }
  async function query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const limitMs = requestTimeoutMs();
    if (limitMs === null) return send(text, values);
    const waitMs = limitMs + graceMs;
    const giveUp = setTimeout(() => {
      timeout = new DatabaseTimeout(`no answer of the database within ${waitMs} ms`);
      // The pool replaces a connection that is gone.
      client.connection.stream.destroy();
    }, waitMs);
    try {
      return await send(text, values);
    } catch (error) {
      throw timeout ?? error;
    } finally {
      clearTimeout(giveUp);
    }
  }
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}
