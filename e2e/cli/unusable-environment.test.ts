// Unusable environments: each ends with a message, never with a stack trace or a hang.
import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { cliProgram, jsonLines, replyWith, waitForExit } from "@agentcli/testkit";
import { openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";

const stackTrace = /\n\s+at .+:\d+:\d+/;

describe("an agent home that cannot be written", () => {
  test.each([
    ["a file", (repository: string) => join(repository, "README.md")],
    ["below a file", (repository: string) => join(repository, "README.md/home")],
    ["in a file system that takes no directories", () => "/proc/agent-home"],
  ])("because it is %s is refused with exit code 2 and a hint", async (_, locate) => {
    const { run, repository, requests } = await openHarness();
    const env = { AGENT_HOME: locate(repository) };
    const { code, stdout, stderr } = await run(["exec", "--model", "practice", "run true"], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Set AGENT_HOME to a directory you can write");
    expect(requests()).toEqual([]);
    const without = await run(["exec", "--ephemeral", "--model", "practice", "run echo fine"], { env });
    expect(without).toMatchObject({ code: 0, stdout: expect.stringContaining("fine") });
  });
});

test("a relative agent home is the same home whatever directory the run works in", async () => {
  const { run, repository } = await openHarness({ files: { "a.txt": "", "sub/b.txt": "" } });
  const options = { env: { AGENT_HOME: "own-home" } };
  expect((await run(["exec", "--model", "practice", "-C", "sub", "run true"], options)).code).toBe(0);
  expect(sessionFiles(join(repository, "own-home"))).toHaveLength(1);
});

test("a removed working directory is named in the error; -C to another one works from there", async () => {
  const { repository, home } = await openHarness();
  const inRemoved = (...args: string[]) => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, AGENT_HOME: home };
    const argv = ["-c", script, "bash", process.execPath, cliProgram, ...args, "--model", "practice"];
    return waitForExit(spawn("/bin/bash", argv, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] }));
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
])("%s with such a home names the path, with exit code 2", async (_, args) => {
  const { run, repository } = await openHarness();
  const env = { AGENT_HOME: join(repository, "README.md") };
  const { code, stderr } = await run(args, { env, stdin: "a-key-for-nothing" });
  expect(code).toBe(2);
  expect(stderr).toContain("README.md");
  expect(stderr).not.toContain("Internal error");
});

test("a signal while login waits for a key ends it at once, with nothing saved", async () => {
  const { start, home } = await openHarness();
  const child = start(["login", "--with-api-key"], { stdin: "open" });
  const result = waitForExit(child);
  await expect.poll(() => handlesSignal(child.pid, hangup)).toBe(true);
  child.kill("SIGTERM");
  expect(await result).toMatchObject({ code: 143, stderr: expect.stringContaining("nothing was saved") });
  expect(existsSync(join(home, "auth.json"))).toBe(false);
});

// Node handles some signals from the start, this one only with a listener.
const hangup = 1;

/** Signal handlers of a process, as the kernel shows them. */
function handlesSignal(pid: number | undefined, signal: number): boolean {
  const [, caught = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

describe("while waiting for a prompt on standard input", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s ends the program at once with exit code %i and one error event", async (signal, code) => {
    const { start } = await openHarness();
    const child = start(["exec", "--json"], { stdin: "open" });
    const result = waitForExit(child);
    child.stderr?.once("data", () => child.kill(signal));
    expect(await result).toMatchObject({ code });
    expect(jsonLines((await result).stdout)).toEqual([
      { type: "error", message: "Interrupted while waiting for standard input." },
    ]);
  });

  test("a pipe that never ends is refused", async () => {
    const { start } = await openHarness();
    const child = start(["exec", "what is this?"], { stdin: "open" });
    const block = Buffer.alloc(1024 * 1024, "y\n");
    const feed = () => void child.stdin?.write(block, (error) => error ?? feed());
    child.stdin?.on("error", () => {});
    feed();
    expect(await waitForExit(child)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("The prompt has more than"),
    });
  });
});

test("output that cannot be written fails the run with a reason", async () => {
  const { repository, home, records } = await openHarness({ replies: [replyWith("Lost.")] });
  const full = openSync("/dev/full", "w");
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, AGENT_HOME: home };
  const child = spawn(process.execPath, [cliProgram, "exec", "hi"], {
    cwd: repository,
    env,
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  expect(await waitForExit(child)).toMatchObject({ code: 1, stderr: expect.stringContaining("ENOSPC") });
  expect(records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { message: "Lost." } });
});

test("a limit longer than any timer means no limit", async () => {
  const { run } = await openHarness({ replies: [replyWith("In time.")] });
  const { code, stdout, stderr } = await run(["exec", "--limit", "wall=99999999h,tool=99999999h", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "In time.\n" });
  expect(stderr).not.toContain("Warning");
});

test("a session that is not a file, or whose directory is gone, does not prevent a run", async () => {
  const { run, repository, sessionFile } = await openHarness({ replies: [replyWith("One."), replyWith("Two.")] });
  mkdirSync(join(repository, "sub"));
  await run(["exec", "-C", "sub", "hi"]);
  rmdirSync(join(repository, "sub"));
  mkdirSync(sessionFile().replace(/[0-9a-f]{12}\.jsonl$/, "000000000000.jsonl"));
  const lost = await run(["exec", "resume", "--last", "--all", "go on"]);
  expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining("no longer exists. Use another: --cd DIR.") });
  const resumed = await run(["exec", "resume", "--last", "--all", "-C", ".", "go on"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "Two.\n" });
  expect((await run(["sessions", "list", "--all"])).stdout).toContain("Damaged");
});

test("a pipe in the place of the local platform's description or of project files keeps no command waiting", async () => {
  const { start, repository, home } = await openHarness({ replies: [replyWith("Done.")] });
  const files = [join(home, "local.json"), join(repository, "package.json"), join(repository, ".agentcli/config.toml")];
  mkdirSync(join(repository, ".agentcli"));
  for (const file of files) execFileSync("mkfifo", ["-m", "600", file]);
  const run = (args: string[]) => {
    const child = start(args, { env: { PLATFORM_DATA: home } });
    onTestFinished(() => void child.kill("SIGKILL"));
    return waitForExit(child);
  };
  expect(await run(["cloud", "list"])).toMatchObject({ code: 2, stderr: expect.stringContaining("PLATFORM_") });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  expect(await run(["exec", "hello"])).toMatchObject({ code: 0, stdout: "Done.\n" });
});
