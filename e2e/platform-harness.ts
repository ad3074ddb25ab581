// The built platform for one test: a data directory of its own, commands, servers that are stopped at the end.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually, temporaryDirectory } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { freshDatabase, type TestDatabase } from "../packages/platform/test/database.ts";
import { type Ended, ended } from "./harness.ts";

const program = fileURLToPath(new URL("../packages/platform/bin/platform.mjs", import.meta.url));

export interface PlatformDesk {
  data: string;
  /** Null where it is embedded. */
  database: TestDatabase | null;
  run(args: string[], env?: Record<string, string>): Promise<Ended>;
  /** A key of the administrator, or as the flags say. */
  key(...flags: string[]): Promise<string>;
  /** Resolves when it listens. */
  serve(args?: string[], env?: Record<string, string>): Promise<ServedPlatform>;
}

export interface ServedPlatform {
  url: string;
  child: ChildProcess;
  /** Lines of standard error so far. */
  log(): string[];
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** `shared` is a database of its own on the server that the tests share: ready in a tenth of the time. */
export async function platformDesk(database: "embedded" | "shared" = "shared"): Promise<PlatformDesk> {
  const home = await temporaryDirectory();
  const fresh = database === "shared" ? await freshDatabase() : null;
  const data = join(home.path, "data");
  const running = new Set<ServedPlatform>();
  onTestFinished(async () => {
    await Promise.all([...running].map((server) => server.stop()));
    await stopLeftPostgres(data);
    await fresh?.close();
    await home.remove();
  });
  const start = (args: string[], env: Record<string, string> = {}) => {
    const { PATH = "" } = process.env;
    const place = { PATH, HOME: home.path, PLATFORM_DATA: data, ...(fresh ? { DATABASE_URL: fresh.url } : {}) };
    return spawn(process.execPath, [program, ...args], { env: { ...place, ...env } });
  };
  const run: PlatformDesk["run"] = (args, env) => ended(start(args, env));
  return {
    data,
    database: fresh,
    run,
    async key(...flags) {
      const { stdout, stderr } = await run(["keys", "create", "--name", "test", ...flags]);
      if (!stdout.startsWith("plt_")) throw new Error(`no key: ${stderr}`);
      return stdout.trim();
    },
    async serve(args = [], env) {
      const server = await listening(start(["serve", "--listen", "127.0.0.1:0", ...args], env));
      running.add(server);
      server.child.once("exit", () => running.delete(server));
      return server;
    },
  };
}

async function listening(child: ChildProcess): Promise<ServedPlatform> {
  const log: string[] = [];
  const exit = once(child, "exit");
  if (!child.stdout || !child.stderr) throw new Error("a child without pipes");
  createInterface(child.stderr).on("line", (line) => log.push(line));
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exit.then(() => null)]);
  const url = /^listening on (\S+)$/.exec(String(line?.[0]))?.[1];
  if (!url) throw new Error(`the server did not start: ${log.join("\n")}`);
  return {
    url,
    child,
    log: () => log,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const [code, by] = await exit;
      return { code, signal: by };
    },
  };
}

/** A killed server leaves its PostgreSQL running, as it should. */
async function stopLeftPostgres(data: string): Promise<void> {
  const pid = postgresOf(data);
  if (pid === null) return;
  process.kill(pid, "SIGINT");
  await eventually(() => postgresOf(data) === null);
}

/** The process of the embedded PostgreSQL; null where none runs. */
export function postgresOf(data: string): number | null {
  try {
    const pid = Number(readFileSync(join(data, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
    return process.kill(pid, 0) ? pid : null;
  } catch {
    return null;
  }
}
