// A platform for tests: real database, real vault, real HTTP; everything of it is gone afterwards.
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import type { Settings } from "../src/config/index.ts";
import { openPlatform, type Platform } from "../src/platform.ts";
import type { KeyRequest } from "../src/principals/index.ts";
import { serve } from "../src/serve.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { freshDatabase } from "./database.ts";

export interface TestPlatform {
  platform: Platform;
  /** A key of the administrator of team `default`, unless something else is asked for. */
  key(request?: Partial<KeyRequest>): Promise<string>;
  close(): Promise<void>;
}

export async function testPlatform(changes: Partial<Settings> = {}): Promise<TestPlatform> {
  const [database, directory] = await Promise.all([freshDatabase(), temporaryDirectory()]);
  const settings = { ...testSettings(directory.path), databaseUrl: database.url, ...changes };
  const platform = await openPlatform(settings, silentLog);
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

export async function testServer(changes: Partial<Settings> = {}): Promise<TestServer> {
  const test = await testPlatform(changes);
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

const testSettings = (directory: string): Settings => ({
  dataDirectory: join(directory, "data"),
  listen: { host: "127.0.0.1", port: 0 },
  publicUrl: null,
  tls: null,
  roles: ["api", "runner", "scheduler", "gateway"],
  databaseUrl: null,
  databaseConnections: 10,
  kekFile: join(directory, "data", "kek"),
  signingKey: { path: join(directory, "data", "signing-key"), isGiven: false },
  committer: { name: "platform", email: "agent@platform.invalid" },
  sourceHosts: { blocked: [], protected: [], github: null },
  leaseMs: 10_000,
  streamRetentionSeconds: 86_400,
  concurrentRuns: 10,
  allowPrivate: [],
  requestsPerMinute: 0,
  models: { model: "practice" },
  variables: { PATH: process.env.PATH },
  programDirectory: join(import.meta.dirname, "../dist"),
});
