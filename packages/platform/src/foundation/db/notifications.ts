// LISTEN and NOTIFY as a port: messages between servers that share a database. They wake; the truth is in the tables.
import { sql } from "kysely";
import type pg from "pg";
import type { Log } from "../telemetry/index.ts";
import { type Connection, openClient } from "./connect.ts";
import { openReconnecting } from "./reconnecting-connection.ts";
import type { Queries } from "./tables/index.ts";

export interface Notifications {
  /** Resolves once listening. Listeners must not throw. */
  subscribe(channel: string, listener: Listener): Promise<() => void>;
}

export interface Listener {
  onMessage(payload: string): void;
  /** The connection was lost and is back: messages may be missing. */
  onGap(): void;
}

/** Sent when the transaction commits. At most 8000 bytes. */
export async function notify(db: Queries, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db);
}

export async function openNotifications(
  connection: Connection,
  log: Log,
): Promise<Notifications & { close(): Promise<void> }> {
  const listeners = new Map<string, Set<Listener>>();
  const reconnecting = await openReconnecting({
    purpose: "notifications",
    log,
    connect: () => openClient(connection),
    async prepare(client) {
      client.on("notification", ({ channel, payload = "" }) => {
        for (const listener of listeners.get(channel) ?? []) listener.onMessage(payload);
      });
      for (const channel of listeners.keys()) await listen(client, channel);
    },
    beat: (client) => client.query("select 1"),
    onReturn() {
      for (const listener of [...listeners.values()].flatMap((some) => [...some])) listener.onGap();
    },
  });
  return {
    close: reconnecting.close,
    async subscribe(channel, listener) {
      const some = listeners.get(channel) ?? new Set();
      listeners.set(channel, some.add(listener));
      // Also where others listen already: their LISTEN may still be on its way.
      await listen(await reconnecting.client(), channel);
      return () => void some.delete(listener);
    },
  };
}

const listen = (client: pg.Client, channel: string) => client.query(`listen ${client.escapeIdentifier(channel)}`);
