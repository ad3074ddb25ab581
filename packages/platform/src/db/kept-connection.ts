// A connection that is brought back whenever it is lost: for locks and messages that live as long as a connection.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Log } from "../telemetry/index.ts";

export interface Keeping {
  /** For the log. */
  purpose: string;
  connect(): Promise<pg.Client>;
  /** Done on every new connection before anybody gets it. */
  prepare(client: pg.Client): Promise<void>;
  /** Every few seconds: a connection whose other end has vanished is found out by it. */
  beat(client: pg.Client): Promise<unknown>;
  /** After a loss, once it is back. */
  onReturn(): void;
  log: Log;
}

export interface KeptConnection {
  /** Waits while there is none. */
  client(): Promise<pg.Client>;
  /** `farewell` is given the connection where there is one. */
  close(farewell?: (client: pg.Client) => Promise<void>): Promise<void>;
}

const beatMs = 5_000;
const longestBeatMs = 10_000;

/** Fails where the first connection cannot be had. */
export async function keepConnection(keeping: Keeping): Promise<KeptConnection> {
  const end = new AbortController();
  const reopenLater = (): void => {
    if (!end.signal.aborted) current = handled(reopen(keeping, reopenLater, end.signal));
  };
  let current = handled(Promise.resolve(await open(keeping, reopenLater)));
  const beating = setInterval(
    () =>
      void current.then(
        (client) => checkPulse(client, keeping),
        () => {},
      ),
    beatMs,
  );
  beating.unref();
  return {
    client: () => current,
    async close(farewell) {
      end.abort();
      clearInterval(beating);
      const client = await current.catch(() => null);
      if (!client) return;
      await farewell?.(client).catch((error) => keeping.log.error("database.farewell_failed", error));
      await client.end();
    },
  };
}

async function open(keeping: Keeping, onLost: () => void): Promise<pg.Client> {
  const client = await keeping.connect();
  try {
    await keeping.prepare(client);
  } catch (error) {
    await client.end();
    throw error;
  }
  client.once("end", onLost);
  return client;
}

async function reopen(keeping: Keeping, onLost: () => void, signal: AbortSignal): Promise<pg.Client> {
  const { purpose, log } = keeping;
  log.warn("database.connection_lost", { purpose });
  for (let waitMs = 25; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    await delay(waitMs, undefined, { signal });
    try {
      const client = await open(keeping, onLost);
      log.info("database.connection_back", { purpose });
      keeping.onReturn();
      return client;
    } catch (error) {
      log.warn("database.unreachable", { purpose, reason: (error as Error).message });
    }
  }
}

async function checkPulse(client: pg.Client, { beat, log, purpose }: Keeping): Promise<void> {
  const tooLong = setTimeout(() => client.connection.stream.destroy(), longestBeatMs);
  try {
    await beat(client);
  } catch (error) {
    log.warn("database.beat_failed", { purpose, reason: (error as Error).message });
  } finally {
    clearTimeout(tooLong);
  }
}

/** Nobody need be waiting for it when it fails. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
