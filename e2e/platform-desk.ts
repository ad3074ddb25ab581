// A platform for one test file: the built program as a process, on a database and a data directory of its own.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type ModelServer, type Reply, type Script, startModelServer, temporaryRepository } from "@agentcli/testkit";
import { type Client, openClient } from "../packages/platform/test/client.ts";
import { freshDatabase, type TestDatabase } from "../packages/platform/test/database.ts";

const house = fileURLToPath(new URL("..", import.meta.url));
const program = join(house, "packages/platform/bin/platform.mjs");
const killer = join(house, "packages/testkit/src/kill-at-query.cjs");
const run = promisify(execFile);

export interface PlatformDesk {
  database: TestDatabase;
  model: ModelServer;
  data: string;
  key: string;
  urls: { first: string; second: string };
  /** Talks to whichever server listens on the first address. */
  client: Client;
  start(options?: StartOptions): Promise<PlatformProcess>;
  /** A repository of the embedded host with these files on `main`; answers with its address. */
  repository(name: string, files: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

export interface StartOptions {
  /** Which of the addresses to listen on. */
  place?: "first" | "second";
}

export interface PlatformProcess {
  pid: number;
  /** Settles when it is gone, however that came about. */
  gone: Promise<unknown>;
  /** It ends by itself at this statement, counted from when this settles; at 0 it only counts. Rejects where it is gone already. */
  killAt(count: number, when: "before" | "sent"): Promise<void>;
  /** Statements since then. */
  counted(): number;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface DeskOptions {
  replies: Reply[] | Script;
  /** More of the configuration, before its first table. */
  config?: string;
}

export async function platformDesk({ replies, config = "" }: DeskOptions): Promise<PlatformDesk> {
  const model = await startModelServer(replies);
  const database = await freshDatabase();
  const data = newDataDirectory();
  const file = join(data, "platform.toml");
  writeFileSync(file, config + configFor(model.url));
  const ports = { first: await freePort(), second: await freePort() };
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: database.url };
  const command = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [program, ...args, "--data", data], { env: environment });
    return stdout.trim();
  };
  const key = await command("keys", "create", "--name", "test");
  const urls = { first: `http://127.0.0.1:${ports.first}`, second: `http://127.0.0.1:${ports.second}` };
  const running = new Set<PlatformProcess>();
  return {
    database,
    model,
    data,
    key,
    urls,
    client: openClient(urls.first, key),
    async start({ place = "first" } = {}) {
      const listen = `127.0.0.1:${ports[place]}`;
      const args = ["serve", "--data", data, "--listen", listen, "--config", file];
      const started = await startProcess(args, { ...environment, ...plansIn(data, place) });
      running.add(started);
      void started.gone.then(() => running.delete(started));
      return started;
    },
    async repository(name, files) {
      const origin = await temporaryRepository(files);
      const clone = await command("repos", "create", name, "--from", origin.path);
      await origin.remove();
      return clone;
    },
    async close() {
      for (const each of running) each.signal("SIGKILL");
      await Promise.all([...running].map(({ gone }) => gone));
      await model.close();
      await database.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

const plansIn = (data: string, place: string) => ({
  KILL_PLAN: join(data, `plan-${place}`),
  KILL_COUNT: join(data, `count-${place}`),
});

async function startProcess(args: string[], env: Record<string, string | undefined>): Promise<PlatformProcess> {
  const child = spawn(process.execPath, ["--require", killer, program, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const gone = once(child, "close");
  await listening(child);
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  const { KILL_PLAN: plan = "", KILL_COUNT: count = "" } = env;
  const readCount = () => (existsSync(count) ? readFileSync(count, "utf8") : "");
  return {
    pid: child.pid ?? 0,
    gone,
    async killAt(count, when) {
      const name = randomUUID();
      writeFileSync(plan, `${name} ${count} ${when}`);
      signal("SIGUSR2");
      while (!readCount().startsWith(name)) {
        if (child.signalCode !== null) throw new Error("The server is gone.");
        await pause(5);
      }
    },
    counted: () => Number(readCount().split(" ")[1]),
    signal,
    async stop() {
      signal("SIGTERM");
      await gone;
    },
  };
}

function listening(child: ChildProcess): Promise<void> {
  const errors: string[] = [];
  child.stderr?.on("data", (text) => errors.push(String(text)));
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error("no output"));
    createInterface({ input: child.stdout }).on("line", (line) => line.startsWith("listening on") && resolve());
    child.on("exit", (code) => reject(new Error(`platform serve ended with ${code}: ${errors.join("")}`)));
  });
}

const configFor = (url: string): string => `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
base_url = "${url}"
wire_api = "responses"
retry_base_ms = 1
[prices.scripted]
input = 1
output = 10
`;

/** Not below /tmp: that is empty inside every sandbox, whatever else is hidden or not. */
function newDataDirectory(): string {
  const parent = join(house, "node_modules/.cache/platform-tests-data");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "data-"));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
