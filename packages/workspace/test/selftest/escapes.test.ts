// Real attempts to break out of the sandbox: on each back end, as root and as an ordinary user.
// Without SWEEP=full each attempt is made once as each user, on a back end that differs each day.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, closeSync, copyFileSync, cpSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { sampleOf } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BackEnd, knownGapsOf } from "../../src/sandbox/back-end.ts";
import type { Attempt } from "../../src/selftest/attempt.ts";
import { attempts } from "../../src/selftest/attempts/index.ts";
import { openDescriptor } from "../../src/selftest/attempts/processes.ts";
import type { AttemptResult } from "../../src/selftest/run.ts";
import { installed } from "../support/installed.ts";
import { buildProgram, serverProgram } from "../support/server-program.ts";

const unprivilegedId = 65534;
const isRoot = process.geteuid?.() === 0;
const secret = "sesame-4711";
const backEnds: Record<string, BackEnd> = {
  bubblewrap: { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" },
  "bubblewrap with shared processes": { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "shared" },
  Landlock: { kind: "landlock", version: 7 },
};
const users = isRoot ? ["root", "an ordinary user"] : ["an ordinary user"];
const combinations = Object.keys(backEnds).flatMap((name) => users.map((user) => [name, user] as const));

let directory = "";
beforeAll(async () => {
  // World-readable: the repository may not be.
  directory = mkdtempSync("/var/tmp/escape-programs-");
  chmodSync(directory, 0o755);
  const program = await serverProgram();
  for (const name of ["workspace-server.cjs", "landlock-launcher.cjs"])
    copyFileSync(join(dirname(program), name), join(directory, name));
  cpSync(installed("@koromix"), join(directory, "node_modules/@koromix"), { recursive: true });
  await buildProgram(join(import.meta.dirname, "escape-runner.ts"), join(directory, "escape-runner.mjs"));
});
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

describe.each(combinations)("on %s %s cannot", (name, user) => {
  const backEnd = backEnds[name] as BackEnd;
  const names = Object.keys(backEnds);
  const chosen = sampleOf(attempts, { every: names.length, shift: names.indexOf(name) + users.indexOf(user) });
  let findings: AttemptResult[] = [];
  beforeAll(async () => {
    findings = await runAttempts(user, backEnd, chosen);
  });
  const gapsFor = (mode: "workspace-write" | "read-only") =>
    knownGapsOf(backEnd, { mode, unixSockets: "refused", protectedPaths: ["hook.sh"] });
  const claimed = chosen.filter(
    ({ knownGap, mode }) => !knownGap || !gapsFor(mode ?? "workspace-write").includes(knownGap),
  );
  test.each(claimed.map((attempt) => attempt.name))("%s", (attempt) => {
    expect(findings.find((finding) => finding.name === attempt)).toMatchObject({ outcome: "held" });
  });
  test.each(chosen.filter((attempt) => !claimed.includes(attempt)).map((attempt) => attempt.name))(
    "%s, a known gap",
    (attempt) => {
      expect(findings.find((finding) => finding.name === attempt)?.outcome).not.toBe("ESCAPED");
    },
  );
});

describe("without a sandbox a command can", () => {
  const harmless = attempts.filter(
    ({ control }) => control === "harmless" || (control === "harmless-as-root" && isRoot),
  );
  let findings: AttemptResult[] = [];
  beforeAll(async () => {
    findings = await runAttempts("myself", null, harmless);
  });
  test.each(harmless.map(({ name }) => name))("%s", (name) => {
    expect(findings.find((finding) => finding.name === name)).toMatchObject({ outcome: "ESCAPED" });
  });
});

async function runAttempts(user: string, backEnd: BackEnd | null, chosen: Attempt[]): Promise<AttemptResult[]> {
  const descriptorFile = mkdtempSync(join(directory, "descriptor-"));
  const file = join(descriptorFile, "file");
  const descriptor = openSync(file, "a");
  const program = [
    process.execPath,
    join(directory, "escape-runner.mjs"),
    join(directory, "workspace-server.cjs"),
    file,
    JSON.stringify(backEnd),
    JSON.stringify(chosen.map((attempt) => attempt.name)),
  ];
  const asUnprivileged = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
  const dropsPrivileges = isRoot && user === "an ordinary user";
  if (dropsPrivileges) for (const path of [descriptorFile, file]) chownSync(path, unprivilegedId, unprivilegedId);
  const [command = "", ...rest] = dropsPrivileges ? [...asUnprivileged, ...program] : program;
  const child = spawn(command, rest, {
    cwd: "/",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", AGENT_API_KEY: secret },
    stdio: [
      "ignore",
      "pipe",
      "pipe",
      ...Array.from({ length: openDescriptor - 3 }, () => "ignore" as const),
      descriptor,
    ],
  });
  children.add(child);
  closeSync(descriptor);
  const [stdout, stderr, code] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, "close"),
  ]);
  if (code[0] !== 0) throw new Error(`The attempts could not be run: ${stderr}`);
  return JSON.parse(stdout);
}

const readAll = (stream: Readable | null): Promise<string> => (stream === null ? Promise.resolve("") : text(stream));
