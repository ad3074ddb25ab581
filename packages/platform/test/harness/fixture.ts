// A team, a key and agents in a separate database, for tests that need no server.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertAgent, insertFollowUp } from "../../src/agents/submit/insert.ts";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openNotifications } from "../../src/foundation/db/index.ts";
import { removeTree } from "../../src/foundation/files/index.ts";
import { openObjects } from "../../src/foundation/objects/index.ts";
import { openStorage } from "../../src/foundation/storage/index.ts";
import { openMetrics, silentLog } from "../../src/foundation/telemetry/index.ts";
import { openVault } from "../../src/foundation/vault/index.ts";
import { openPrincipals, type Principal } from "../../src/identity/principals/index.ts";
import { openSessions } from "../../src/identity/sessions/index.ts";
import { freshDatabase } from "./database.ts";
import type { TestContext } from "./platform.ts";
import { testSettings } from "./settings.ts";

export interface AgentFixture {
  platform: TestContext;
  principal: Principal;
  key: string;
  databaseUrl: string;
  newAgent(prompt?: string): Promise<{ agentId: string; runId: string }>;
  followUp(agentId: string): Promise<{ agentId: string; runId: string }>;
  close(): Promise<void>;
}

/** Missing options have the defaults of a server. */
export async function openFixture(given: Partial<Settings> = {}): Promise<AgentFixture> {
  const database = await freshDatabase();
  const { db } = database;
  const dataDirectory = given.dataDirectory ?? mkdtempSync(join(tmpdir(), "platform-spine-"));
  const settings: Settings = { ...testSettings(dataDirectory), streamRetentionSeconds: 60, ...given };
  const vault = await openVault(db, settings);
  const principals = openPrincipals({ db, vault, now: () => new Date() });
  const notifications = await openNotifications(database.connection, silentLog);
  const owner = { kind: "user", email: null } as const;
  const { key } = await principals.createKey({ name: "test", team: "default", owner, scopes: null, expiresAt: null });
  const known = await principals.authenticate(`Bearer ${key}`);
  if (known.kind === "refused") throw new Error(known.reason);
  const metrics = openMetrics();
  const platform: TestContext = {
    db,
    connection: database.connection,
    vault,
    principals,
    sessions: openSessions(db, () => new Date()),
    notifications,
    settings,
    metrics,
    storage: openStorage(dataDirectory, silentLog),
    objects: openObjects(settings),
    log: silentLog,
    nodeId: "node",
    serversKey: Buffer.alloc(32),
    now: () => new Date(),
    async close() {},
  };
  const requester = { principal: known.principal, requestId: "request", source: "API" };
  return {
    platform,
    principal: known.principal,
    key,
    databaseUrl: database.url,
    newAgent: (prompt = "do it") =>
      db.transaction().execute((tx) => insertAgent({ tx, platform, requester }, { prompt: { text: prompt } })),
    followUp: (agentId) =>
      db
        .transaction()
        .execute((tx) => insertFollowUp({ tx, platform, requester }, agentId, { prompt: { text: "and more" } })),
    async close() {
      await notifications.close();
      await database.close();
      await removeTree(dataDirectory);
    },
  };
}
