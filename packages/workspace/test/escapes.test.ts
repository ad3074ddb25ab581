// Real attempts to break out of the sandbox, as root and as an ordinary user.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, closeSync, copyFileSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attempts, leftOpen } from "./escapes/attempts.ts";
import { secret } from "./escapes/fixture.ts";
import { buildProgram, serverProgram } from "./server-program.ts";

const nobody = 65534;
const isRoot = process.geteuid?.() === 0;
type Results = Record<string, { succeeded: boolean; said: string }>;

let directory = "";
beforeAll(async () => {
  // Readable for everybody: the repository may not be.
  directory = mkdtempSync("/var/tmp/escape-programs-");
  chmodSync(directory, 0o755);
  copyFileSync(await serverProgram(), join(directory, "workspace-server.cjs"));
  await buildProgram(join(import.meta.dirname, "escapes/escape-runner.ts"), join(directory, "escape-runner.mjs"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(isRoot ? ["root", "an ordinary user"] : ["an ordinary user"])("in the sandbox %s cannot", (user) => {
  let results: Results = {};
  beforeAll(() => {
    results = runAttempts(user, "sandboxed");
  });
  test.each(attempts.map(({ name }) => name))("%s", (name) => {
    expect(results[name]).toMatchObject({ succeeded: false });
  });
});

describe("without a sandbox one can", () => {
  let results: Results = {};
  beforeAll(() => {
    results = runAttempts("myself", "control");
  });
  test.each(attempts.filter(({ control }) => control === "harmless").map(({ name }) => name))("%s", (name) => {
    expect(results[name]).toMatchObject({ succeeded: true });
  });
});

function runAttempts(user: string, kind: "sandboxed" | "control"): Results {
  const descriptorFile = join(directory, `descriptor-${user.replaceAll(" ", "-")}`);
  const descriptor = openSync(descriptorFile, "a");
  const program = [
    process.execPath,
    join(directory, "escape-runner.mjs"),
    join(directory, "workspace-server.cjs"),
    kind,
    descriptorFile,
  ];
  const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"];
  if (isRoot && user === "an ordinary user") chownSync(descriptorFile, nobody, nobody);
  const [command = "", ...rest] = isRoot && user === "an ordinary user" ? [...asNobody, ...program] : program;
  const run = spawnSync(command, rest, {
    cwd: "/",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", AGENT_API_KEY: secret },
    stdio: ["ignore", "pipe", "pipe", ...Array.from({ length: leftOpen - 3 }, () => "ignore" as const), descriptor],
    encoding: "utf8",
    timeout: 110_000,
  });
  closeSync(descriptor);
  if (run.status !== 0) throw new Error(`The attempts could not be run: ${run.stderr}`);
  return JSON.parse(run.stdout);
}
