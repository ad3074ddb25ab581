// A team, a key and agents on a database of their own, for tests that need no server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRun } from "../src/agents/create.ts";
import type { Settings } from "../src/config/index.ts";
import { openNotifications } from "../src/db/index.ts";
import type { Platform } from "../src/platform.ts";
import { openPrincipals, type Principal } from "../src/principals/index.ts";
import { openSessions } from "../src/sessions/index.ts";
import { openMetrics, silentLog } from "../src/telemetry/index.ts";
import { openVault } from "../src/vault/index.ts";
import { freshDatabase } from "./database.ts";
import { testSettings } from "./settings.ts";

export interface Spine {
  platform: Platform;
  principal: Principal;
  key: string;
  databaseUrl: string;
  newAgent(prompt?: string): Promise<{ agentId: string; runId: string }>;
  followUp(agentId: string): Promise<{ agentId: string; runId: string }>;
  close(): Promise<void>;
}

/** What is not given is what a server has that was told nothing. */
export async function openSpine(given: Partial<Settings> = {}): Promise<Spine> {
  const database = await freshDatabase();
  const { db } = database;
  const dataDirectory = given.dataDirectory ?? mkdtempSync(join(tmpdir(), "platform-spine-"));
  const vault = await openVault(db, join(dataDirectory, "kek"));
  const principals = openPrincipals({ db, vault, now: () => new Date() });
  const notifications = await openNotifications(database.connection, silentLog);
  const owner = { kind: "user", email: null } as const;
  const { key } = await principals.createKey({ name: "test", team: "default", owner, scopes: null, expiresAt: null });
  const known = await principals.authenticate(`Bearer ${key}`);
  if (known.kind === "refused") throw new Error(known.reason);
  const settings: Settings = { ...testSettings(dataDirectory), streamRetentionSeconds: 60, ...given };
  const metrics = openMetrics();
  const platform: Platform = {
    db,
    connection: database.connection,
    vault,
    principals,
    sessions: openSessions(db, () => new Date()),
    notifications,
    settings,
    metrics,
    log: silentLog,
    nodeId: "node",
    async close() {},
  };
  const asking = { principal: known.principal, requestId: "request", source: "API" };
  return {
    platform,
    principal: known.principal,
    key,
    databaseUrl: database.url,
    newAgent: (prompt = "do it") =>
      db.transaction().execute((tx) => createAgent({ tx, platform, asking }, { prompt: { text: prompt } })),
    followUp: (agentId) =>
      db.transaction().execute((tx) => createRun({ tx, platform, asking }, agentId, { prompt: { text: "and more" } })),
    async close() {
      await notifications.close();
      await database.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
