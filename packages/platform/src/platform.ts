// What every subject is given: settings, database, vault, principals and log of one server.
import type { Kysely } from "kysely";
import type { Settings } from "./config/index.ts";
import type { Notifications, Tables } from "./db/index.ts";
import type { Principals } from "./principals/index.ts";
import type { Log, Metrics } from "./telemetry/index.ts";
import type { Vault } from "./vault/index.ts";

export interface Platform {
  settings: Settings;
  db: Kysely<Tables>;
  notifications: Notifications;
  vault: Vault;
  principals: Principals;
  log: Log;
  metrics: Metrics;
  /** This server among those of the database. A restarted one has the id of its former life. */
  nodeId: string;
  close(): Promise<void>;
}
