// Where a run is started is not always a good place: each of these ends in a sentence, never in a trace or a hang.
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { jsonLines, say } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { desk, ended, program, sessionFiles } from "./harness.ts";

const stackTrace = /\n\s+at .+:\d+:\d+/;

describe("an agent home that cannot be written", () => {
  test.each([
    ["a file", (repository: string) => join(repository, "README.md")],
    ["below a file", (repository: string) => join(repository, "README.md/home")],
    ["in a file system that takes no directories", () => "/proc/agent-home"],
  ])("because it is %s is refused with exit code 2 and what to do", async (_, place) => {
    const { run, repository, requests } = await desk();
    const env = { AGENT_HOME: place(repository) };
    const { code, stdout, stderr } = await run(["exec", "--model", "practice", "run true"], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Set AGENT_HOME to a directory you can write");
    expect(requests()).toEqual([]);
    const without = await run(["exec", "--ephemeral", "--model", "practice", "run echo fine"], { env });
    expect(without).toMatchObject({ code: 0, stdout: expect.stringContaining("fine") });
  });
});

test("an agent home named from here is the same home wherever the run works", async () => {
  const { run, repository } = await desk({ files: { "a.txt": "", "sub/b.txt": "" } });
  const options = { env: { AGENT_HOME: "own-home" } };
  expect((await run(["exec", "--model", "practice", "-C", "sub", "run true"], options)).code).toBe(0);
  expect(sessionFiles(join(repository, "own-home"))).toHaveLength(1);
});

test("a directory that was removed is named; another works from there", async () => {
  const { repository, home } = await desk();
  const inRemoved = (...args: string[]) => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, AGENT_HOME: home };
    const argv = ["-c", script, "bash", process.execPath, program, ...args, "--model", "practice"];
    return ended(spawn("/bin/bash", argv, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] }));
  };
  const lost = await inRemoved("exec", "run true");
  expect(lost).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("gone does not exist") });
  expect(lost.stderr).not.toMatch(stackTrace);
  const elsewhere = await inRemoved("exec", "-C", repository, "run echo fine");
  expect(elsewhere).toMatchObject({ code: 0, stdout: expect.stringContaining("fine") });
});

test.each([
  ["login", ["login", "--with-api-key"]],
  ["trust", ["trust"]],
])("%s with such a home says which path it was, with exit code 2", async (_, args) => {
  const { run, repository } = await desk();
  const env = { AGENT_HOME: join(repository, "README.md") };
  const { code, stderr } = await run(args, { env, stdin: "a-key-for-nothing" });
  expect(code).toBe(2);
  expect(stderr).toContain("README.md");
  expect(stderr).not.toContain("Internal error");
});

test("a signal while a key is awaited ends login at once, with nothing saved", async () => {
  const { start, home } = await desk();
  const child = start(["login", "--with-api-key"], { stdin: "open" });
  const result = ended(child);
  await expect.poll(() => handlesSignal(child.pid, hangup), { timeout: 20_000 }).toBe(true);
  child.kill("SIGTERM");
  expect(await result).toMatchObject({ code: 143, stderr: expect.stringContaining("nothing was saved") });
  expect(existsSync(join(home, "auth.json"))).toBe(false);
});

// Node itself handles some signals from the start, this one only when asked to.
const hangup = 1;

/** As the kernel shows the handlers that a process has put in place. */
function handlesSignal(pid: number | undefined, signal: number): boolean {
  const [, caught = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

describe("while a prompt is awaited on standard input", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s ends the program at once with exit code %i and one error event", async (signal, code) => {
    const { start } = await desk();
    const child = start(["exec", "--json"], { stdin: "open" });
    const result = ended(child);
    child.stderr?.once("data", () => child.kill(signal));
    expect(await result).toMatchObject({ code });
    expect(jsonLines((await result).stdout)).toEqual([
      { type: "error", message: "Interrupted while waiting for standard input." },
    ]);
  });

  test("a pipe that never ends is refused", async () => {
    const { start } = await desk();
    const child = start(["exec", "what is this?"], { stdin: "open" });
    const block = Buffer.alloc(1024 * 1024, "y\n");
    const feed = () => void child.stdin?.write(block, (error) => error ?? feed());
    child.stdin?.on("error", () => {});
    feed();
    expect(await ended(child)).toMatchObject({ code: 2, stderr: expect.stringContaining("The prompt has more than") });
  });
});

test("output that cannot be written fails the run and says why", async () => {
  const { repository, home, records } = await desk({ replies: [say("Lost.")] });
  const full = openSync("/dev/full", "w");
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, AGENT_HOME: home };
  const child = spawn(process.execPath, [program, "exec", "hi"], {
    cwd: repository,
    env,
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  expect(await ended(child)).toMatchObject({ code: 1, stderr: expect.stringContaining("ENOSPC") });
  expect(records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { message: "Lost." } });
});

test("a limit longer than any timer is no limit", async () => {
  const { run } = await desk({ replies: [say("In time.")] });
  const { code, stdout, stderr } = await run(["exec", "--limit", "wall=99999999h,tool=99999999h", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "In time.\n" });
  expect(stderr).not.toContain("Warning");
});

test("a session that is no file, or whose directory is gone, does not stand in the way", async () => {
  const { run, repository, sessionFile } = await desk({ replies: [say("One."), say("Two.")] });
  mkdirSync(join(repository, "sub"));
  await run(["exec", "-C", "sub", "hi"]);
  rmdirSync(join(repository, "sub"));
  mkdirSync(sessionFile().replace(/[0-9a-f]{12}\.jsonl$/, "000000000000.jsonl"));
  const lost = await run(["exec", "resume", "--last", "--all", "go on"]);
  expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining("is gone. Go on in another: --cd DIR.") });
  const resumed = await run(["exec", "resume", "--last", "--all", "-C", ".", "go on"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "Two.\n" });
  expect((await run(["sessions", "list", "--all"])).stdout).toContain("damaged");
});
