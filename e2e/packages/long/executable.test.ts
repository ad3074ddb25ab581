// The executables of a release, made from a Node that is fetched from the registry: a minute, not seconds.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);

let release: Awaited<ReturnType<typeof temporaryDirectory>>;
let home: string;
beforeAll(async () => {
  release = await temporaryDirectory();
  home = join(release.path, "home");
  mkdirSync(home);
  const script = join(projectRoot, "scripts/release-dry.mjs");
  await run(process.execPath, [script, "--out", release.path, "--parts", "executable,sbom"]);
}, 600_000);
afterAll(() => release.remove());

const executable = (architecture: string) => join(release.path, `executable/agentcli-linux-${architecture}`);

/** Nothing of the clone and no Node is in the environment. */
const variables = () => ({ PATH: "/usr/local/sbin:/usr/sbin:/bin", HOME: home, SHELL: "/bin/bash" });
const agentcli = (...args: string[]) => run(executable(process.arch), args, { cwd: home, env: variables() });

test("the executable runs prompts and commands in the sandbox, from one file", async () => {
  const flags = ["--skip-git-repo-check", "--model", "practice", "--sandbox", "workspace-write"];
  const prompt = "create hello.txt containing Hello, then run cat hello.txt";
  expect((await agentcli("exec", ...flags, prompt)).stdout).toContain("2 steps done");
  expect((await agentcli("exec", "resume", "--last", "--skip-git-repo-check", "run true")).stdout).toContain("1 step");
  expect((await agentcli("--help")).stdout).toContain("Usage: agentcli");
});

test("the executable has the sandbox of the package, with both back ends", { timeout: 300_000 }, async () => {
  expect((await agentcli("sandbox", "probe")).stdout).toMatch(/^landlock +works/m);
  const { stdout, stderr } = await agentcli("sandbox", "selftest");
  expect(`${stdout}${stderr}`).toMatch(/bubblewrap: \d\d+ held, \d+ admitted, 0 escaped/);
});

test("what the executable has unpacked belongs to its user alone", () => {
  expect(statSync(join(home, ".agentcli/cache/program")).mode & 0o077).toBe(0);
});

const selfCheck = ["exec", "--skip-git-repo-check", "--model", "practice", "run true"];

test("a full disk while it unpacks is reported, leaves nothing, and does not stop a later start", async () => {
  const disk = join(home, "disk");
  mkdirSync(disk);
  const script = `mount -t tmpfs -o size=1m none ${disk}
    export AGENT_HOME=${disk}; "$@"; echo "ended with $?"; find ${disk}/cache/program -mindepth 1 | wc -l
    mount -o remount,size=200m ${disk} && exec "$@"`;
  const args = ["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", executable(process.arch)];
  const { stdout, stderr } = await run("unshare", [...args, ...selfCheck], { cwd: home, env: variables() });
  expect(stderr).toMatch(/ERROR: The program cannot be unpacked into .*ENOSPC.*Make room there/);
  expect(stdout).toMatch(/^ended with 1\n0\n[\s\S]*1 step done/);
});

test("killed while it unpacks, the next start works", async () => {
  const env = { ...variables(), AGENT_HOME: join(home, "killed") };
  const programs = join(env.AGENT_HOME, "cache/program");
  const child = spawn(executable(process.arch), selfCheck, { cwd: home, env, stdio: "ignore" });
  const ended = once(child, "exit");
  while (!existsSync(programs) || readdirSync(programs).length === 0) await new Promise(setImmediate);
  child.kill("SIGKILL");
  await ended;
  expect(readdirSync(programs)).toEqual([expect.stringMatching(/^[0-9a-f]+\./)]);
  expect((await run(executable(process.arch), selfCheck, { cwd: home, env })).stdout).toContain("1 step done");
});

test("the executable for the other processor is one, with the same program in it", () => {
  const machines = { x64: 62, arm64: 183 };
  for (const [architecture, machine] of Object.entries(machines)) {
    const bytes = readFileSync(executable(architecture));
    expect(bytes.readUInt16LE(18)).toBe(machine);
    expect(bytes.includes("workspace-server.cjs")).toBe(true);
  }
});

test("its bill of materials names Node", () => {
  const bill = readFileSync(join(release.path, "sbom/agentcli-executable.cdx.json"), "utf8");
  expect(bill).toMatch(/"purl": "pkg:npm\/node@\d+\.\d+\.\d+"/);
});
