// A connection that is reopened whenever it is lost: for locks and notifications, which live as long as a connection.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Log } from "../telemetry/index.ts";

export interface ReconnectOptions {
  /** For the log. */
  purpose: string;
  connect(): Promise<pg.Client>;
  /** Runs on every new connection before it is used. */
  prepare(client: pg.Client): Promise<void>;
  /** Every few seconds: detects a connection whose other end has vanished. */
  beat(client: pg.Client): Promise<unknown>;
  /** After a loss, once it is back. */
  onReturn(): void;
  log: Log;
}

export interface ReconnectingConnection {
  /** Waits while there is none. */
  client(): Promise<pg.Client>;
  /** `farewell` is given the connection where there is one. */
  close(farewell?: (client: pg.Client) => Promise<void>): Promise<void>;
}

const beatMs = 5_000;
const beatTimeoutMs = 10_000;

/** Fails when the first connection cannot be opened. */
export async function openReconnecting(options: ReconnectOptions): Promise<ReconnectingConnection> {
  const end = new AbortController();
  const reopenLater = (): void => {
    if (!end.signal.aborted) current = handled(reopen(options, reopenLater, end.signal));
  };
  let current = handled(Promise.resolve(await open(options, reopenLater)));
  // One at a time: while a database hangs, further ones would only queue behind the first.
  let pulse: Promise<void> | null = null;
  const takePulse = (): void => {
    pulse ??= current
      .then((client) => checkPulse(client, options))
      .catch(() => {})
      .finally(() => {
        pulse = null;
      });
  };
  const beating = setInterval(takePulse, beatMs);
  beating.unref();
  return {
    client: () => current,
    async close(farewell) {
      end.abort();
      clearInterval(beating);
      await pulse;
      const client = await current.catch(() => null);
      if (!client || client.connection.stream.destroyed) return;
      await farewell?.(client).catch((error) => options.log.error("database.farewell_failed", error));
      await client.end();
    },
  };
}

async function open(options: ReconnectOptions, onLost: () => void): Promise<pg.Client> {
  const client = await options.connect();
  try {
    await options.prepare(client);
  } catch (error) {
    await client.end();
    throw error;
  }
  client.once("end", onLost);
  return client;
}

async function reopen(options: ReconnectOptions, onLost: () => void, signal: AbortSignal): Promise<pg.Client> {
  const { purpose, log } = options;
  log.warn("database.connection_lost", { purpose });
  for (let waitMs = 25; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    await delay(waitMs, undefined, { signal });
    try {
      const client = await open(options, onLost);
      log.info("database.connection_back", { purpose });
      options.onReturn();
      return client;
    } catch (error) {
      log.warn("database.unreachable", { purpose, reason: (error as Error).message });
    }
  }
}

async function checkPulse(client: pg.Client, { beat, log, purpose }: ReconnectOptions): Promise<void> {
  const tooLong = setTimeout(() => client.connection.stream.destroy(), beatTimeoutMs);
  try {
    await beat(client);
  } catch (error) {
    log.warn("database.beat_failed", { purpose, reason: (error as Error).message });
  } finally {
    clearTimeout(tooLong);
  }
}

/** Its failure is not an unhandled rejection when no caller waits. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
