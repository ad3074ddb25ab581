// Limits of the system: each is named with what to do about it, without a stack trace.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { call, cliProgram, replyWith, waitForExit } from "@agentcli/testkit";
import { openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";

const stackTrace = /\n\s+at .+:\d+:\d+/;
const practice = ["exec", "--model", "practice", "run echo fine"];

async function inShell(script: string, args: string[]) {
  const harness = await openHarness();
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, AGENT_HOME: harness.home };
  const argv = ["-c", script, "bash", process.execPath, cliProgram, ...args];
  const child = spawn("/bin/bash", argv, { cwd: harness.repository, env, stdio: ["ignore", "pipe", "pipe"] });
  return { ...harness, ...(await waitForExit(child)) };
}

test.each(["", "relative/home"])("HOME=%j does not make a home of the working directory", async (HOME) => {
  const { run, repository } = await openHarness();
  const { stdout } = await run(["doctor"], { env: { HOME, AGENT_HOME: "" } });
  expect(stdout).not.toContain(join(repository, HOME, ".agentcli"));
  expect(stdout).toContain(join(userInfo().homedir, ".agentcli"));
});

/** Others than these three may come from whatever runs the tests. */
const withoutInherited = 'for fd in $(ls /proc/$$/fd); do [ $fd -gt 2 ] && eval "exec $fd>&-"; done';

test.each([
  [18, 21, 24, 27],
  [30, 33, 36, 39],
  [42, 44, 45, 46],
])("too few descriptors are named, wherever they run out: %j, %j, %j, %j", async (...limits) => {
  const runs = limits.map((limit) => inShell(`${withoutInherited}; ulimit -n ${limit}; exec "$@"`, practice));
  for (const { stdout, stderr } of await Promise.all(runs)) {
    expect(stderr).not.toMatch(stackTrace);
    if (stdout.includes("`echo fine`: exit code 0")) continue;
    expect(stderr).toMatch(/Too many open files.*ulimit -n 4096/);
  }
});

test("too few processes are named, wherever they run out", async () => {
  const user = ordinaryUser();
  onTestFinished(user.remove);
  const results = await Promise.all([10, 12, 14, 16, 64].map((limit) => withProcesses(limit, user)));
  for (const { stderr } of results) expect(stderr).not.toMatch(stackTrace);
  const [last, ...fewer] = results.reverse();
  expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining("`echo fine`: exit code 0") });
  // Node itself ends without the threads that it needs first.
  const failed = fewer.filter(({ code, stdout }) => code !== 134 && code !== null && !stdout.includes("exit code 0"));
  expect(failed.length).toBeGreaterThan(0);
  for (const { stdout, stderr } of failed) expect(stdout + stderr).toContain("ulimit -u 4096");
});

/** The kernel counts the processes of a user in each user namespace, and those of root never. */
async function withProcesses(limit: number, user: OrdinaryUser) {
  const home = mkdtempSync("/var/tmp/agentcli-processes-");
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  user.own(home);
  const inside = ["unshare", "--map-root-user", "bash", "-c", `ulimit -u ${limit}; exec "$@"`, "bash"];
  const env = { PATH: process.env.PATH ?? "", HOME: home, AGENT_HOME: join(home, ".agentcli") };
  return user.run([...practice, "--skip-git-repo-check"], { cwd: home, env, inside });
}

test("a command that is too long for the system is explained to the model", async () => {
  const { run, requests } = await openHarness({
    replies: [call("exec_command", { cmd: `echo ${"x".repeat(200_000)}` }), replyWith("Too long.")],
  });
  expect((await run(["exec", "go"])).code).toBe(0);
  expect(toolOutputs(requests()[1])[0]).toMatch(/too long for a new process.*Put the data into a file/);
});

test("a path that is too deep is called too long, not missing", async () => {
  const { run } = await openHarness();
  const { code, stderr } = await run([...practice, "-C", `${"d".repeat(200)}/`.repeat(25)]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("The path is too long") });
  expect(stderr).not.toContain("does not exist");
});

test("a working directory that is too deep is refused, not replaced by another", async () => {
  const name = "d".repeat(200);
  const enter = `for i in $(seq 25); do mkdir ${name}; cd ${name}; done`;
  // Removed from where it begins: its whole path is too long for other programs too.
  const script = `top=$PWD; ${enter}; env -u PWD "$@"; code=$?; cd "$top"; rm -rf ${name}; exit $code`;
  const { code, stdout, stderr } = await inShell(script, practice);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("The path is too long");
});

describe("a full agent home", () => {
  const unshare = process.geteuid?.() === 0 ? "unshare -m" : "unshare -rm";
  const full = `small=$AGENT_HOME/small; mkdir $small; exec ${unshare} bash -c 'mount -t tmpfs -o size=64k none "$1"; head -c 200000 /dev/zero > "$1/rest" 2>/dev/null; export AGENT_HOME=$1; shift; exec "$@"' bash $small "$@"`;

  test("is named when a run cannot be saved", async () => {
    const { code, stderr } = await inShell(full, practice);
    expect(code).toBe(2);
    expect(stderr).toContain("The disk is full: free some space on it, or set AGENT_HOME");
    expect(stderr).not.toMatch(stackTrace);
  });

  test("is noticed by doctor", async () => {
    const { code, stdout } = await inShell(full, ["doctor", "--model", "practice"]);
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/fail\s+agent home .*the disk is full/);
  });
});
