// A platform for tests: real database, real vault, real HTTP; everything is removed afterwards.
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openPlatformContext, type PlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { type KeyRequest, openPrincipals, type Principals } from "../../src/identity/principals/index.ts";
import { openSessions, type Sessions } from "../../src/identity/sessions/index.ts";
import { serve } from "../../src/serve.ts";
import { freshDatabase } from "./database.ts";
import { testSettings } from "./settings.ts";

/** The context of a server, with functions for tests. */
export interface TestContext extends PlatformContext {
  principals: Principals;
  sessions: Sessions;
}

export interface TestPlatform {
  platform: TestContext;
  /** Creates a key, by default of the administrator of team `default`. */
  key(request?: Partial<KeyRequest>): Promise<string>;
  close(): Promise<void>;
}

export async function testPlatform(changes: Partial<Settings> = {}, log = silentLog): Promise<TestPlatform> {
  const [database, directory] = await Promise.all([freshDatabase(), temporaryDirectory()]);
  const settings = { ...testSettings(join(directory.path, "data")), databaseUrl: database.url, ...changes };
  const context = await openPlatformContext(settings, log);
  const principals = openPrincipals({ db: context.db, vault: context.vault, now: () => new Date() });
  const platform = { ...context, principals, sessions: openSessions(context.db, () => new Date()) };
  return {
    platform,
    key: async (request) => (await platform.principals.createKey({ ...anyKey, ...request })).key,
    async close() {
      await platform.close();
      await database.close();
      await directory.remove();
    },
  };
}

export interface TestServer extends TestPlatform {
  url: string;
  /** Sends the body as JSON, if any, and reads JSON. */
  call(key: string, method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

export async function testServer(changes: Partial<Settings> = {}, log = silentLog): Promise<TestServer> {
  const test = await testPlatform(changes, log);
  const { url, stop } = await serve(test.platform);
  return {
    ...test,
    url,
    async call(key, method, path, body) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : jsonContent) };
      const answer = await fetch(`${url}${path}`, { method, headers, ...json });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    async close() {
      await stop();
      await test.close();
    },
  };
}

const jsonContent = { "content-type": "application/json" };

const anyKey: KeyRequest = {
  name: "test",
  team: "default",
  owner: { kind: "user", email: null },
  scopes: null,
  expiresAt: null,
};
