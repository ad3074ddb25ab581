// What every subject is given: settings, database, vault, principals and log of one server.
import { mkdirSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Settings } from "./config/index.ts";
import {
  type Connection,
  claimNodeId,
  type Notifications,
  openDatabase,
  openNotifications,
  type Tables,
} from "./db/index.ts";
import { openPrincipals, type Principals } from "./principals/index.ts";
import { openSessions, type Sessions } from "./sessions/index.ts";
import { addProcessMetrics, type Log, type Metrics, openMetrics } from "./telemetry/index.ts";
import { openVault, type Vault } from "./vault/index.ts";

export interface Platform {
  settings: Settings;
  db: Kysely<Tables>;
  /** For connections of one's own. */
  connection: Connection;
  notifications: Notifications;
  vault: Vault;
  principals: Principals;
  sessions: Sessions;
  log: Log;
  metrics: Metrics;
  /** This server among those of the database. A restarted one has the id of its former life. */
  nodeId: string;
  close(): Promise<void>;
}

/** Work that goes on between requests. */
export interface Activity {
  /** Gives back what it has in hand; another server, or the next start, goes on with it. */
  stop(): Promise<void>;
}

/** Whatever was opened is closed again where something later cannot be. */
export async function openPlatform(settings: Settings, log: Log): Promise<Platform> {
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  try {
    mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 });
    const database = await openDatabase(settings, log);
    opened.push(database.close);
    const vault = await openVault(database.db, settings.kekFile);
    const notifications = await openNotifications(database.connection, log);
    opened.push(notifications.close);
    const node = await claimNodeId(database.connection, log);
    opened.push(node.release);
    const principals = openPrincipals({ db: database.db, vault, now: () => new Date() });
    const sessions = openSessions(database.db, () => new Date());
    const metrics = openMetrics();
    addProcessMetrics(metrics);
    const { db, connection } = database;
    const known = { settings, db, connection, notifications, vault, principals, sessions };
    return { ...known, log, metrics, nodeId: node.id, close };
  } catch (error) {
    await close();
    throw error;
  }
}
