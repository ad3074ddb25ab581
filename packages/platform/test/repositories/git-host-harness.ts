// The embedded git host over HTTP on loopback, with a database and keys of two teams, for one test file.

import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { type AddressInfo, BlockList } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { createAdaptorServer } from "@hono/node-server";
import { createApi } from "../../src/foundation/http/index.ts";
import { openMetrics, silentLog } from "../../src/foundation/telemetry/index.ts";
import { openVault, type Vault } from "../../src/foundation/vault/index.ts";
import { openPrincipals, type Principals } from "../../src/identity/principals/index.ts";
import {
  type GitHost,
  openAuthenticator,
  openGitHost,
  serveGit,
  servePullRequests,
} from "../../src/repositories/githost/index.ts";
import { freshDatabase, type TestDatabase } from "../harness/database.ts";
import { noRateLimits } from "../harness/settings.ts";
import { testSigner } from "../harness/signer.ts";

export interface GitHostHarness extends TestDatabase {
  data: string;
  /** URL of the HTTP server. */
  url: string;
  databaseUrl: string;
  host: GitHost;
  vault: Vault;
  principals: Principals;
  /** Keys of the team under test and of another team. */
  key: string;
  otherKey: string;
  teamId: number;
  /** A clone URL that contains a key. */
  withKey(url: string, key?: string): string;
  /** JSON request and response, with the team's key by default. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ status: number; body: unknown; text: string }>;
}

export async function openGitHostHarness(): Promise<GitHostHarness> {
  const database = await freshDatabase();
  const { db } = database;
  const home = await temporaryDirectory();
  const vault = await openVault(db, { kekFile: join(home.path, "kek") });
  const principals = openPrincipals({ db, vault, now: () => new Date() });
  const key = (name: string, team: string) =>
    principals.createKey({ name, team, owner: { kind: "user", email: null }, scopes: null, expiresAt: null });
  const [own, other] = [await key("own", "default"), await key("other", "other")];

  const api = createApi({
    authenticate: () => Promise.reject(new Error("not a route of the API")),
    limits: { ...noRateLimits, trustedProxies: new BlockList() },
    log: silentLog,
    metrics: openMetrics(),
    queryTimeoutMs: 60_000,
  });
  const { app, admission } = api;
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host = openGitHost({
    db,
    vault,
    dataDirectory: home.path,
    signer: testSigner(home.path),
    serverUrls: () => [url],
  });
  const authenticator = openAuthenticator({ host, principals, admission });
  serveGit(api, { host, authenticator, log: silentLog });
  servePullRequests(app, { host, authenticator });

  return {
    ...database,
    data: home.path,
    url,
    databaseUrl: database.url,
    host,
    vault,
    principals,
    key: own.key,
    otherKey: other.key,
    teamId: own.teamId,
    withKey: (address, secret = own.key) => address.replace("://", `://${secret}:@`),
    async ask(method, path, body, secret = own.key) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, text, body: text.startsWith("{") ? JSON.parse(text) : undefined };
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
      await database.close();
      await rm(home.path, { recursive: true, force: true });
    },
  };
}

const run = promisify(execFile);

/** Runs git like a user, without any user or system configuration. */
export async function userGit(cwd: string, ...args: string[]): Promise<string> {
  const environment = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "User",
    GIT_AUTHOR_EMAIL: "user@example.com",
    GIT_COMMITTER_NAME: "User",
    GIT_COMMITTER_EMAIL: "user@example.com",
  };
  return (await run("git", args, { cwd, env: environment, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}
