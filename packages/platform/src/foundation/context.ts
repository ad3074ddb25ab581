// What every subject gets: settings, database, vault, log and metrics of one server.
import { mkdirSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Settings } from "./config/index.ts";
import {
  type Connection,
  claimNodeId,
  type Notifications,
  openDatabase,
  openDatabaseClock,
  openNotifications,
  refuseHalfRestored,
  type Tables,
} from "./db/index.ts";
import { type Forwarding, openForwarding } from "./forwarding/index.ts";
import { clientAddress } from "./http/index.ts";
import { type NetworkPolicy, openNetworkPolicy, readRanges } from "./network/index.ts";
import { type Objects, openObjects } from "./objects/index.ts";
import { openStorage, type Storage } from "./storage/index.ts";
import { addProcessMetrics, type Log, type Metrics, openMetrics } from "./telemetry/index.ts";
import { openVault, type Vault } from "./vault/index.ts";

export interface PlatformContext {
  settings: Settings;
  db: Kysely<Tables>;
  /** For connections of one's own. */
  connection: Connection;
  notifications: Notifications;
  vault: Vault;
  log: Log;
  metrics: Metrics;
  /** The disk of the data directory. */
  storage: Storage;
  /** Bytes by key: sealed artifacts, files of agents, packs of repositories. */
  objects: Objects;
  /** This server among those of the database. A restarted one has the id of its former life. */
  nodeId: string;
  /** Servers of the database know each other by it. */
  serversKey: Buffer;
  /** By the clock of the database. */
  now(): Date;
  close(): Promise<void>;
}

/** The context of a server, which has an address. */
export interface ServerContext extends PlatformContext {
  network: NetworkPolicy;
  /** To other servers of the database. */
  forwarding: Forwarding;
  /** The address it listens on; available once it listens, before the first request. */
  serverUrl(): string;
  /** The address for links: the configured one, else `serverUrl`. */
  publicUrl(): string;
}

/** Whatever was opened is closed again where something later cannot be. */
export async function openPlatformContext(settings: Settings, log: Log): Promise<PlatformContext> {
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  try {
    refuseHalfRestored(settings.dataDirectory);
    mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 });
    // First: a database on a full disk starts only once the reserve is released.
    const storage = openStorage(settings.dataDirectory, log);
    opened.push(async () => storage.close());
    const database = await openDatabase(settings, log);
    opened.push(database.close);
    const clock = await openDatabaseClock(database.db);
    opened.push(async () => clock.close());
    const vault = await openVault(database.db, settings);
    const notifications = await openNotifications(database.connection, log);
    opened.push(notifications.close);
    const node = await claimNodeId(database.connection, log);
    opened.push(node.release);
    const metrics = openMetrics();
    addProcessMetrics(metrics);
    const { db, connection } = database;
    const { now } = clock;
    const serversKey = await vault.authenticate("servers of one database", "forwarded requests");
    const objects = openObjects(settings);
    const opening = { settings, db, connection, notifications, vault, log, metrics, storage, objects };
    return { ...opening, nodeId: node.id, serversKey, now, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export function openServerContext(platform: PlatformContext, serverUrl: () => string): ServerContext {
  const { settings, serversKey: key } = platform;
  const proxies = readRanges(settings.rateLimits.trustedProxies, "trusted_proxies");
  return {
    ...platform,
    network: openNetworkPolicy({ allowPrivate: settings.allowPrivate }),
    forwarding: openForwarding({ ...platform, key, clientAddress: (request) => clientAddress(request, proxies) }),
    serverUrl,
    publicUrl: () => settings.publicUrl ?? serverUrl(),
  };
}
