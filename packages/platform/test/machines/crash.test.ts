// A server is killed at any moment: the next one finds its machines, and nothing else is left of it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { eventually, isFullSweep, sampleOf } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { programsOfTests } from "../harness/bundled.ts";

const bundled = programsOfTests();

const run = promisify(execFile);
const sweepLimitMs = isFullSweep ? 3_600_000 : 1_200_000;
const serverProgram = join(import.meta.dirname, "../../dist/workspace-server.cjs");
const killAtStep = join(import.meta.dirname, "../harness/kill-at-step.cjs");

function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "machines-"));
  const asRoot = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  onTestFinished(async () => void (await run("unshare", [...asRoot, "rm", "-rf", directory])));
  return directory;
}

interface OnDisk {
  directory: string;
  pid?: number;
  env?: Record<string, string>;
}

/** Its data directory is in a file system of its own, in this file; what the kernel has not written there is not in a copy. */
async function startOn(disk: string, mode: string, { directory, pid = 0, env = {} }: OnDisk) {
  // Nothing is written because time has passed.
  const mount = 'mount -o loop,commit=300 "$1" "$2"; shift 2; exec "$@"';
  const mounted = [
    "--mount",
    "--propagation=private",
    "--",
    "/bin/sh",
    "-ec",
    mount,
    "mount",
    disk,
    dirname(directory),
  ];
  const program = await bundled("machines/crash-child.ts");
  const argv = [process.execPath, "--require", killAtStep, program, mode, directory, serverProgram, String(pid)];
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
  return spawn("unshare", [...mounted, ...argv], { env: { PATH: process.env.PATH, ...env }, stdio });
}

const start = async (mode: string, directory: string, env: Record<string, string> = {}) =>
  spawn(
    process.execPath,
    ["--require", killAtStep, await bundled("machines/crash-child.ts"), mode, directory, serverProgram],
    {
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );

/** Where there can be no machines, the reason is given, and there is nothing to kill. */
async function isPossible(): Promise<boolean> {
  const program = await bundled("machines/crash-child.ts");
  const { stdout } = await run(process.execPath, [program, "probe", dataDirectory(), serverProgram], {
    env: { PATH: process.env.PATH },
  });
  const obstacle = JSON.parse(stdout);
  if (obstacle !== null) expect(obstacle).toContain("Machines cannot be made here: ");
  return obstacle === null;
}

interface Found {
  states: string[];
  file: string | null;
  /** What a machine that starts from the active build finds; null before there is one. */
  active: string | null;
  left: string[];
}

async function check(directory: string, killed: ChildProcess): Promise<Found> {
  const program = await bundled("machines/crash-child.ts");
  const { stdout } = await run(process.execPath, [program, "check", directory, serverProgram, String(killed.pid)], {
    env: { PATH: process.env.PATH },
  });
  return JSON.parse(stdout);
}

test("after a kill while its machine was frozen, the machine is stopped and its disk is as it was", async () => {
  if (!(await isPossible())) return;
  const directory = dataDirectory();
  const child = await start("wait-frozen", directory);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  expect(await check(directory, child)).toEqual({ states: ["stopped"], file: "text\n", active: null, left: [] });
});

/** Begins a build on an empty disk; once it says `at`, or has stopped there, the power fails. What the next server finds. */
async function losePower(at: "active" | number): Promise<{ found: Found; wasActive: boolean }> {
  const files = dataDirectory();
  const [disk, left, mounted] = [join(files, "disk"), join(files, "left"), join(files, "mounted")];
  const directory = join(mounted, basename(files));
  await run("truncate", ["--size=512M", disk]);
  await run("mkfs.ext4", ["-q", disk]);
  mkdirSync(mounted);
  const env: Record<string, string> = at === "active" ? {} : { KILL_AT: String(at), KILL_SIGNAL: "SIGSTOP" };
  const child = await startOn(disk, "build", { directory, env });
  let wasActive = false;
  child.stdout.once("data", () => {
    wasActive = true;
  });
  if (at === "active") await once(child.stdout, "data");
  else await eventually(() => expect(readFileSync(`/proc/${child.pid}/stat`, "utf8")).toContain(") T "));
  child.kill("SIGSTOP");
  copyFileSync(disk, left);
  child.kill("SIGKILL");
  await once(child, "close");
  const next = await startOn(left, "check", { directory, ...(child.pid !== undefined && { pid: child.pid }) });
  const [found, [code]] = await Promise.all([text(next.stdout), once(next, "close")]);
  expect({ at, code }).toEqual({ at, code: 0 });
  await rm(files, { recursive: true, force: true });
  return { found: JSON.parse(found), wasActive };
}

test(
  "after a power loss at any moment of a build machines start from the active one, with all of its files",
  async () => {
    // An ordinary user mounts no file system.
    if (process.geteuid?.() !== 0 || !(await isPossible())) return;
    const { found } = await losePower("active");
    expect(found).toMatchObject({ active: "text\n", left: [] });
    if (!isFullSweep) return;
    const log = join(dataDirectory(), "steps");
    expect(await once(await start("build", dirname(log), { KILL_LOG: log }), "close")).toEqual([0, null]);
    for (const at of pointsOf(readFileSync(log, "utf8").trim().split("\n").length)) {
      const { found: after, wasActive } = await losePower(at);
      expect({ at, left: after.left }).toEqual({ at, left: [] });
      if (wasActive) expect({ at, active: after.active }).toEqual({ at, active: "text\n" });
    }
  },
  sweepLimitMs,
);

test.each([
  { mode: "work", does: "its machine", end: { states: ["stopped"], file: "text\n", active: null } },
  { mode: "mounted", does: "runs of an agent", end: { states: ["stopped"], file: "text\n", active: null } },
  { mode: "build", does: "a build", end: { states: [], file: null, active: "text\n" } },
])(
  "after a kill before, during or after any program that a server starts for $does, nothing is left",
  async ({ mode, end }) => {
    if (!(await isPossible())) return;
    const first = dataDirectory();
    const log = join(first, "steps");
    const whole = await start(mode, first, { KILL_LOG: log });
    expect(await once(whole, "close")).toEqual([0, null]);
    expect(await check(first, whole)).toEqual({ ...end, left: [] });
    const steps = readFileSync(log, "utf8").trim().split("\n").length;
    for (const at of pointsOf(steps)) {
      const directory = dataDirectory();
      const child = await start(mode, directory, { KILL_AT: String(at) });
      let output = "";
      child.stdout.on("data", (data) => {
        output += data;
      });
      expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
      const found = await check(directory, child);
      expect({ at, left: found.left }).toEqual({ at, left: [] });
      expect(new Set([...found.states, "stopped"])).toEqual(new Set(["stopped"]));
      if (output.includes("started")) expect(found.file).toBe("text\n");
      if (output.includes("active")) expect(found.active).toBe("text\n");
    }
  },
  sweepLimitMs,
);

/** All steps in a full sweep; otherwise one or two, and others each day. */
const pointsOf = (steps: number): number[] =>
  sampleOf(
    Array.from({ length: steps }, (_, index) => index + 1),
    { every: Math.ceil(steps / 1.5) },
  );
