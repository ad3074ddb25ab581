// Commits without a configured identity, in every kind of workspace.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment } from "../../../src/environment/index.ts";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import { openFallbackIdentity } from "../../../src/server/processes/fallback-identity.ts";
import { openServer } from "../../../src/server/server.ts";
import { bash } from "../../support/commands.ts";
import { sandboxes, toolEnv } from "../../support/locations.ts";

const note = "No git identity is configured: commits are by agentcli <agentcli@localhost>.\n";

const unconfined = async ({ root }: { root: string }, env: Environment): Promise<OpenedWorkspace> =>
  openServer({ root, writable: "anywhere", env, orphans: "ended-by-watchdog" });

let base = "";
let root = "";
let workspace: OpenedWorkspace | undefined;
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/identity-"));
  root = join(base, "repository");
  mkdirSync(join(base, "home"));
  execFileSync("git", ["init", "-q", "-b", "main", root], { env: environment() });
});
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
  rmSync(base, { recursive: true, force: true });
});

/** Of a user whose git knows nothing about them. */
function environment(more: Environment = {}): Environment {
  const isIdentity = (name: string) => /^(EMAIL|GIT_(AUTHOR|COMMITTER|CONFIG).*)$/.test(name);
  const rest = Object.entries(toolEnv()).filter(([name]) => !isIdentity(name));
  return { ...Object.fromEntries(rest), HOME: join(base, "home"), GIT_CONFIG_NOSYSTEM: "1", ...more };
}

const authorsIn = (directory: string): string[] =>
  execFileSync("git", ["log", "--format=%an <%ae> by %cn <%ce>"], { cwd: directory, encoding: "utf8" })
    .trim()
    .split("\n");

const fallback = "agentcli <agentcli@localhost> by agentcli <agentcli@localhost>";
const ada = "Ada <ada@example.com>";

describe.each([["danger-full-access", unconfined] as const, ...sandboxes])("in %s", (_, openIn) => {
  const open = async (more: Environment = {}) => {
    workspace = await openIn({ mode: "workspace-write", root }, environment(more));
    return workspace;
  };

  test("without a configured identity commits are by a fallback one, and the output says so once", async () => {
    const inside = await open();
    expect(await bash(inside, "git commit --allow-empty -qm x")).toMatchObject({
      result: { exitCode: 0 },
      stderr: note,
    });
    expect(await bash(inside, "git commit --allow-empty -qm y")).toMatchObject({ result: { exitCode: 0 }, stderr: "" });
    expect(authorsIn(root)).toEqual([fallback, fallback]);
  });

  test("a repository that the command itself creates has it too", async () => {
    const inside = await open({ GIT_CONFIG_NOSYSTEM: "0", GIT_CONFIG_SYSTEM: "/dev/null" });
    const commit = 'git init -q "$d" && git -C "$d" commit --allow-empty -qm x && git -C "$d" log --format=%ae';
    const output = await bash(inside, `d=$(mktemp -d) && ${commit}; code=$?; rm -rf "$d"; exit $code`);
    expect(output).toMatchObject({ result: { exitCode: 0 }, stdout: "agentcli@localhost\n" });
  });

  test("a log of the repository that cannot be read ends neither the command nor the workspace", async () => {
    const inside = await open();
    await bash(inside, "git init -q inner");
    const output = await bash(inside, "cd inner && rm -rf .git/logs && ln -s logs .git/logs && echo done");
    expect(output).toMatchObject({ result: { exitCode: 0 }, stdout: "done\n" });
    expect(await bash(inside, "echo again")).toMatchObject({ result: { exitCode: 0 }, stdout: "again\n" });
  });

  test("any identity that the user or the command gives wins", async () => {
    writeFileSync(join(base, "system"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
    const inside = await open({ GIT_CONFIG_NOSYSTEM: "false", GIT_CONFIG_SYSTEM: join(base, "system") });
    const commit = "commit --allow-empty -qm x";
    await bash(inside, `git ${commit}`);
    await bash(inside, `git -c user.name=Bob -c user.email=bob@example.com ${commit}`);
    const output = await bash(inside, `GIT_AUTHOR_NAME=Eve GIT_AUTHOR_EMAIL=eve@example.com git ${commit}`);
    expect(output.stderr).toBe("");
    const bob = "Bob <bob@example.com>";
    expect(authorsIn(root)).toEqual([`Eve <eve@example.com> by ${ada}`, `${bob} by ${bob}`, `${ada} by ${ada}`]);
  });

  test("EMAIL is an identity", async () => {
    const inside = await open({ EMAIL: "ada@example.com" });
    expect((await bash(inside, "git commit --allow-empty -qm x")).stderr).not.toContain("No git identity");
    expect(authorsIn(root)).toEqual([expect.stringContaining("<ada@example.com> by")]);
  });

  test("its file is gone with the workspace", async () => {
    const inside = await open();
    const path = (await bash(inside, "echo $GIT_CONFIG_SYSTEM")).stdout.trim();
    await inside.close();
    workspace = undefined;
    expect([path === "", existsSync(path)]).toEqual([false, false]);
  });
});

test("what a killed server left in the temporary directory is removed a day later, and nothing else", () => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = base;
  const identity = openFallbackIdentity();
  try {
    const ended = spawnSync("true").pid;
    const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
    const kept = [`agent-git-${process.pid}-living`, `agent-git-${ended}-recent`, "other-1-x"];
    for (const name of [...kept, `agent-git-${ended}-old`, "agent-git-before"]) mkdirSync(join(base, name));
    symlinkSync(root, join(base, `agent-git-${ended}-link`));
    for (const name of [kept[0], kept[2], `agent-git-${ended}-old`, "agent-git-before"])
      utimesSync(join(base, name ?? ""), old, old);
    identity.variablesFor({});
    const left = readdirSync(base).filter((name) => !/^(?:home|repository)$/.test(name));
    const own = left.filter((name) => name.startsWith(`agent-git-${process.pid}-`) && name !== kept[0]);
    expect(own).toHaveLength(1);
    expect(left.filter((name) => !own.includes(name)).sort()).toEqual([...kept, `agent-git-${ended}-link`].sort());
  } finally {
    identity.close();
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});
