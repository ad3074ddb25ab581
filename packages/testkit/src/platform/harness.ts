// The built platform for tests: its own data directory and database, commands, servers, a scripted model.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import type { Reply, Script } from "../model-server/script.ts";
import { type LoggedRequest, type ModelServer, startModelServer } from "../model-server/server.ts";
import { type ProcessResult, waitForExit } from "../processes.ts";
import { platformProgram, projectRoot } from "../project.ts";
import { temporaryDirectory } from "../temporary.ts";
import { openClient, type PlatformClient } from "./client.ts";
import { createDatabase, type TestDatabase } from "./database.ts";
import { openForFile } from "./for-file.ts";
import { type PlatformServer, startServer } from "./server.ts";

/** Not a port but a test harness: its methods are the actions that scenarios take on one platform. */
export interface PlatformHarness {
  /** Parent of `data`; also HOME of every command. */
  directory: string;
  data: string;
  /** Throws where the database is embedded. */
  database: TestDatabase;
  /** Variables that lead to the scripted model, for a server of another harness. */
  modelEnv: Record<string, string>;
  start(args: string[], env?: Record<string, string>): ChildProcess;
  run(args: string[], env?: Record<string, string>): Promise<ProcessResult>;
  /** Output of a command; rejects where it fails. */
  output(...args: string[]): Promise<string>;
  /** A new API key: of the administrator, or with these flags of `keys create`. */
  key(...flags: string[]): Promise<string>;
  /** The clone URL of a new repository of the embedded host with these files on `main`. */
  repository(name: string, files: Record<string, string>, ...flags: string[]): Promise<string>;
  /** Resolves when the server listens; several may run at once. */
  serve(options?: ServeOptions): Promise<PlatformServer>;
  /** Stops all servers, so that a failed test does not affect the next. */
  stopServers(): Promise<void>;
  /** Of a server, with a new key. */
  client(server: PlatformServer, ...flags: string[]): Promise<PlatformClient>;
  /** What the scripted model was asked. */
  requests(): LoggedRequest[];
  close(): Promise<void>;
}

export interface PlatformHarnessOptions {
  /** `shared` is a database on the server that the tests share: ready in a tenth of the time. */
  database?: "embedded" | "shared";
  /** Of a scripted model; the practice model answers without them. */
  replies?: Reply[] | Script;
  /** Variables of every command and server. */
  env?: Record<string, string>;
}

export interface ServeOptions {
  /** Of another version; that of this checkout unless given. */
  program?: string;
  args?: string[];
  env?: Record<string, string>;
  /** HOST:PORT; a free port of loopback unless given. */
  listen?: string;
  /** Allows `killAt`. */
  killable?: boolean;
  /** A program with arguments that starts the server in its own process, such as one that mounts something first. */
  within?: string[];
}

/** Closed when the test has finished. */
export async function openPlatformForTest(options: PlatformHarnessOptions = {}): Promise<PlatformHarness> {
  const harness = await openPlatform(options);
  onTestFinished(harness.close);
  return harness;
}

/** One for all tests of a file. */
export const openPlatformForFile = (options: PlatformHarnessOptions = {}): (() => PlatformHarness) =>
  openForFile(
    () => openPlatform(options),
    ({ close }) => close(),
  );

export async function openPlatform(options: PlatformHarnessOptions = {}): Promise<PlatformHarness> {
  const model = options.replies === undefined ? null : await startModelServer(options.replies);
  const directory = await createDirectory();
  const data = join(directory, "data");
  const database = options.database === "embedded" ? null : await createDatabase();
  const { PATH = "" } = process.env;
  const modelEnv = model ? scriptedModel(model) : {};
  const env = {
    PATH,
    HOME: directory,
    PLATFORM_DATA: data,
    ...(database && { DATABASE_URL: database.url }),
    ...modelEnv,
    ...options.env,
  };
  const commands = openCommands(env);
  const servers = new Set<PlatformServer>();
  const stopServers = async () => void (await Promise.all([...servers].map(stopServer)));
  return {
    directory,
    data,
    get database() {
      if (!database) throw new Error("This harness has an embedded database.");
      return database;
    },
    modelEnv,
    ...commands,
    async serve(options = {}) {
      const { program = platformProgram, args = [], env: more = {}, listen = "127.0.0.1:0" } = options;
      const { killable = false, within = [] } = options;
      const server = await startServer({
        program,
        args: ["--listen", listen, ...args],
        env: { ...env, ...more },
        killable: killable ? directory : null,
        within,
      });
      servers.add(server);
      void server.exited.then(() => servers.delete(server));
      return server;
    },
    stopServers,
    client: async (server, ...flags) => openClient(server.url, await commands.key(...flags)),
    requests: () => model?.requests() ?? [],
    async close() {
      await stopServers();
      await stopEmbeddedPostgres(data);
      await database?.close();
      await model?.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Not below /tmp: that is empty inside every sandbox, whatever the sandbox hides. */
async function createDirectory(): Promise<string> {
  const parent = join(projectRoot, "node_modules/.cache/platform-tests-data");
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, "platform-"));
}

const scriptedModel = ({ url }: ModelServer): Record<string, string> => ({
  PLATFORM_MODEL: "scripted",
  PLATFORM_MODEL_PROVIDER: "scripted",
  PLATFORM_MODEL_PROVIDERS: JSON.stringify({
    scripted: { base_url: url, wire_api: "responses", retry_base_ms: 1 },
  }),
  PLATFORM_PRICES: JSON.stringify({ scripted: { input: 1, output: 10 } }),
  PLATFORM_RATE_LIMITS_REQUESTS_PER_MINUTE: "0",
});

function openCommands(env: Record<string, string>) {
  const start: PlatformHarness["start"] = (args, more = {}) =>
    spawn(process.execPath, [platformProgram, ...args], { env: { ...env, ...more } });
  const run: PlatformHarness["run"] = (args, more) => waitForExit(start(args, more));
  const output: PlatformHarness["output"] = async (...args) => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`platform ${args.join(" ")} exited with ${code}: ${stderr}`);
    return stdout;
  };
  const key: PlatformHarness["key"] = async (...flags) =>
    (await output("keys", "create", "--name", "test", ...flags)).trim();
  const repository: PlatformHarness["repository"] = async (name, files, ...flags) => {
    const source = await temporaryDirectory(files);
    try {
      return (await output("repos", "create", name, "--from", source.path, ...flags)).trim();
    } finally {
      await source.remove();
    }
  };
  return { start, run, output, key, repository };
}

async function stopServer(server: PlatformServer): Promise<void> {
  // A paused process does not act on SIGTERM.
  server.child.kill("SIGCONT");
  await server.stop();
}

/** A killed server leaves its PostgreSQL running, as it should. */
async function stopEmbeddedPostgres(data: string): Promise<void> {
  const pid = embeddedPostgres(data);
  if (pid === null) return;
  process.kill(pid, "SIGINT");
  await eventually(() => embeddedPostgres(data) === null);
}

/** The process id of the embedded PostgreSQL; null where it does not run. */
export function embeddedPostgres(data: string): number | null {
  try {
    const pid = Number(readFileSync(join(data, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
    return process.kill(pid, 0) ? pid : null;
  } catch {
    return null;
  }
}
