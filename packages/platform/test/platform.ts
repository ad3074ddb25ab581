// A platform for tests: real database, real vault, real HTTP; everything of it is gone afterwards.
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import type { Settings } from "../src/config/index.ts";
import { openPlatform, type Platform } from "../src/platform.ts";
import type { KeyRequest } from "../src/principals/index.ts";
import { serve } from "../src/serve.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { freshDatabase } from "./database.ts";
import { testSettings } from "./settings.ts";

export interface TestPlatform {
  platform: Platform;
  /** A key of the administrator of team `default`, unless something else is asked for. */
  key(request?: Partial<KeyRequest>): Promise<string>;
  close(): Promise<void>;
}

export async function testPlatform(changes: Partial<Settings> = {}, log = silentLog): Promise<TestPlatform> {
  const [database, directory] = await Promise.all([freshDatabase(), temporaryDirectory()]);
  const settings = { ...testSettings(join(directory.path, "data")), databaseUrl: database.url, ...changes };
  const platform = await openPlatform(settings, log);
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
  /** Sends JSON where there is a body, and reads JSON. */
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
