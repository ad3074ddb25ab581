// The program of the single executable file, started by this Node from files that are unpacked already.
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeProgram } from "../../scripts/release/executable.mjs";

const run = promisify(execFile);

let scratch: Awaited<ReturnType<typeof temporaryDirectory>>;
let unpacked: string;
beforeAll(async () => {
  scratch = await temporaryDirectory();
  const files = join(projectRoot, "packages/cli/dist");
  const { script, digest } = await describeProgram({ root: projectRoot, files, node: process.execPath });
  unpacked = join(scratch.path, "home/cache/program", digest);
  cpSync(files, unpacked, { recursive: true });
  chmodSync(unpacked, 0o700);
  mkdirSync(join(scratch.path, "project"));
  writeFileSync(join(scratch.path, "main.cjs"), script);
});
afterAll(() => scratch.remove());

function agentcli(...args: string[]) {
  const env = {
    PATH: process.env.PATH,
    HOME: scratch.path,
    AGENT_HOME: join(scratch.path, "home"),
    SHELL: "/bin/bash",
  };
  const project = join(scratch.path, "project");
  const running = run(process.execPath, [join(scratch.path, "main.cjs"), ...args], { cwd: project, env });
  running.child.stdin?.end();
  return running;
}

test("it runs a prompt with a command in the sandbox, and resumes it", async () => {
  const flags = ["--skip-git-repo-check", "--model", "practice", "--sandbox", "workspace-write"];
  const prompt = "create hello.txt containing Hello, then run cat hello.txt";
  expect((await agentcli("exec", ...flags, prompt)).stdout).toContain("2 steps done");
  const more = await agentcli("exec", "resume", "--last", "--skip-git-repo-check", "append World to hello.txt");
  expect(more.stdout).toContain("1 step done");
});

test("it starts the programs of the sandbox when they are its first argument", async () => {
  const server = join(unpacked, "workspace-server.cjs");
  await expect(agentcli(server)).rejects.toThrow("Standard input ended before its first line");
  await expect(agentcli("/elsewhere/workspace-server.cjs")).rejects.toThrow(/ERROR: .*workspace-server/);
});

test("it runs nothing that other users could have written", async () => {
  chmodSync(unpacked, 0o777);
  await expect(agentcli("exec", "hello")).rejects.toThrow(`ERROR: ${unpacked} could be changed by other users.`);
  expect((await agentcli("--version")).stdout).toMatch(/^agentcli \d/);
  chmodSync(unpacked, 0o700);
});
