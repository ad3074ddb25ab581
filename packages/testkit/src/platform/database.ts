// A separate database for each test, on the PostgreSQL server that all tests share.
// One helper process per test process makes them: see packages/platform/test/harness/database-program.ts.
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { projectRoot } from "../project.ts";

export interface TestDatabase {
  /** For DATABASE_URL of a server. */
  url: string;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  helper ??= startHelper();
  const { send } = helper;
  const url = await send("create");
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // A connection that is cut while idle is reported by the next query.
  pool.on("error", () => {});
  return {
    url,
    async query<Row>(text: string, values: unknown[] = []) {
      return (await pool.query(text, values)).rows as Row[];
    },
    async close() {
      await pool.end();
      await send(`drop ${url}`);
    },
  };
}

interface Helper {
  /** One line each way, answered in order. */
  send(line: string): Promise<string>;
}

let helper: Helper | undefined;

function startHelper(): Helper {
  const program = join(projectRoot, "packages/testkit/dist/platform-database.mjs");
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: { resolve(answer: string): void; reject(error: Error): void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { url, error } = JSON.parse(line);
    const request = waiting.shift();
    if (error === undefined) request?.resolve(url ?? "");
    else request?.reject(new Error(error));
  });
  child.once("exit", (code) => {
    helper = undefined;
    for (const { reject } of waiting) reject(new Error(`${program} exited with ${code}`));
  });
  // It exits when its standard input closes, at the latest with this process, which it must not keep alive.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Socket).unref();
  return {
    send: (line) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${line}\n`);
      }),
  };
}
