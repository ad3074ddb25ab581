// A server with credentials of its teams, and git hosts that ask for them.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Run } from "@agentcli/protocol/api";
import { eventually, temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { expect } from "vitest";
import type { Settings } from "../../src/foundation/index.ts";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { type Answer, type TestServer, testServer } from "../harness/platform.ts";
import { type HttpGitServer, serveHttp } from "./git-servers.ts";

export interface CredentialHarness {
  server: TestServer;
  /** Of an administrator of the team `default`. */
  key: string;
  logged: string[];
  /** Parent directory of served repositories. */
  served: string;
  /** Adds a bare repository with one commit; returns its directory. */
  addRepository(name: string): Promise<string>;
  set(credential: object, key?: string): Promise<Answer>;
  /** Runs an agent that executes this command in a repository, to its end. */
  run(url: string, command: string, key?: string): Promise<Run>;
  close(): Promise<void>;
}

export async function openCredentialHarness(options: Partial<Settings> = {}): Promise<CredentialHarness> {
  const home = await temporaryDirectory();
  const logged: string[] = [];
  const log = openLog({ write: (line) => logged.push(line), now: () => new Date() });
  const server = await testServer({ allowPrivate: ["127.0.0.0/8"], ...options }, log);
  const key = await server.key();
  return {
    server,
    key,
    logged,
    served: home.path,
    addRepository: (name) => addRepository(home.path, name),
    set: (credential, by = key) => server.call(by, "PUT", "/v1/team/credentials", credential),
    run: (url, command, by = key) => runToEnd(server, by, { url, command }),
    async close() {
      await server.close();
      await home.remove();
    },
  };
}

async function addRepository(parent: string, name: string): Promise<string> {
  const origin = await temporaryRepository();
  const directory = join(parent, `${name}.git`);
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", origin.path, directory]);
  await origin.remove();
  return directory;
}

async function runToEnd(server: TestServer, key: string, { url, command }: { url: string; command: string }) {
  const request = { prompt: { text: `run \`${command}\`` }, repos: [{ url }] };
  const { body } = await server.call(key, "POST", "/v1/agents", request);
  const { agent, run } = body as { agent: { id: string }; run: Run };
  return eventually(async () => {
    const found = (await server.call(key, "GET", `/v1/agents/${agent.id}/runs/${run.id}`)).body as Run;
    expect(["FINISHED", "ERROR"]).toContain(found.status);
    return found;
  });
}

export interface GuardedServer extends HttpGitServer {
  /** Every Authorization header that it received. */
  received: string[];
  /** Arguments of all processes of this machine, at each request. */
  commandLines: string[];
}

interface GuardOptions {
  challenge: string;
  accepts(header: string, request: IncomingMessage): boolean;
  tls?: { key: Buffer; cert: Buffer };
}

/** Answers only requests whose header is `expected`; others are asked for it with `challenge`. */
export async function serveGuarded(root: string, { challenge, accepts, tls }: GuardOptions): Promise<GuardedServer> {
  const received: string[] = [];
  const commandLines: string[] = [];
  const ask = (request: IncomingMessage, response: ServerResponse) => {
    const header = request.headers.authorization;
    if (header !== undefined) received.push(header);
    commandLines.push(readCommandLines());
    if (header !== undefined && accepts(header, request)) return false;
    response.writeHead(401, { "www-authenticate": challenge }).end("Who are you?");
    return true;
  };
  const server = await serveHttp(root, ask, tls === undefined ? {} : { tls });
  return { ...server, received, commandLines };
}

/** Processes may end while they are listed. */
export function readCommandLines(): string {
  const read = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(read)
    .join("\n");
}
