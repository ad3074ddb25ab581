// Real command lines that meet the sandbox: one line says what is blocked and what works instead, on both back ends.
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenedWorkspace } from "../../src/lifecycle/lazy.ts";
import type { BackEnd } from "../../src/sandbox/back-end.ts";
import { openSandbox, openWorkspace } from "../../src/sandbox/launch.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { toolEnv } from "../support/locations.ts";
import { serverProgram } from "../support/server-program.ts";

const outside =
  /^\[sandbox workspace-write\] \S+ is outside the directories that commands can write: .*Use one of these/;
const protectedPath = /^\[sandbox workspace-write\] \S*\.git\/\S* is protected: commands cannot change \.git/;
const readOnly = /^\[sandbox read-only\] Nothing can be written here except in \S+\. .* -s workspace-write/;
const networkOff = /^\[sandbox [\w-]+\] The network is off, .*network_access=true/;
const privileges = /^\[sandbox [\w-]+\] Commands have no privileges here/;
const hiddenPath = /^\[sandbox [\w-]+\] \S+ is hidden from commands/;

type Row = [commandLine: string, bubblewrap: RegExp | null, landlock: RegExp | null];

const both = (note: RegExp | null, ...lines: string[]): Row[] => lines.map((line) => [line, note, note]);

const inWorkspaceWrite: Row[] = [
  ...both(
    outside,
    "touch /etc/agent-test",
    "echo x > /usr/agent-test",
    "mkdir -p /opt/agent/test",
    "cp a /usr/local/bin/agent-test",
    "cd /usr && touch agent-test",
    "touch /usr/agent-test 2>&1 | tail -1",
    `"$NODE" -e 'fs.writeFileSync("/usr/agent-test", "")'`,
    "make -f build.mk install",
    "printf 'no end of line: '; touch /etc/agent-test",
  ),
  ...both(
    /^\[sandbox workspace-write\] \/usr\/agent-test is outside/,
    "/bin/bash -c 'echo x > /usr/agent-test'",
    "/bin/sh -c 'echo x > /usr/agent-test'",
  ),
  ["(cd /usr && touch agent-test)", /^\[sandbox workspace-write\] That path is outside/, null],
  ["echo x > .git/hooks/pre-commit", protectedPath, null],
  ["echo x >> .git/config", protectedPath, null],
  ...both(
    networkOff,
    "curl -sS https://registry.example.com/x",
    "curl -sS http://192.0.2.1/",
    "git ls-remote https://example.com/a/b.git",
    `"$NODE" -e 'require("dns").lookup("example.com", (error) => { throw error })'`,
    `"$NODE" -e 'require("net").connect(80, "192.0.2.1")'`,
    "git clone -q https://example.com/a/b.git 2>&1 | head -3",
    "exec 3<> /dev/tcp/192.0.2.1/80",
    "npm view left-pad version",
    "echo 'go: module lookup disabled by GOPROXY=off' >&2; exit 1",
    "echo 'error: no matching package named `serde` found' >&2; echo \"As a reminder, you're using offline mode\" >&2; exit 101",
  ),
  ...both(
    privileges,
    "unshare -r true",
    "chmod 4755 a",
    "echo 'sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Invalid argument' >&2; exit 1",
    "echo 'E: seteuid 42 failed - seteuid (22: Invalid argument)' >&2; exit 100",
  ),
  ...both(
    null,
    "echo fine > free.txt",
    "grep -rn 'Read-only file system' log.txt",
    "cat log.txt",
    "grep -n 'Permission denied' log.txt; true",
    "./not-executable",
    "echo 'Could not resolve host: x'",
    "cat missing",
    "cat unreadable",
    "exit 3",
    'echo x > "$TMPDIR/x"',
  ),
];

const inReadOnly: Row[] = [
  ...both(
    readOnly,
    "touch new",
    "echo x > a",
    "rm -f a",
    "sed -i s/a/b/ a",
    "mkdir build 2>&1",
    "touch /etc/agent-test",
  ),
  ...both(networkOff, "curl -sS https://registry.example.com/x"),
  ["cat secret/key", null, hiddenPath],
  ["touch secret/new", readOnly, hiddenPath],
  ...both(null, "cat a", "./not-executable", "cat log.txt", 'echo x > "$TMPDIR/x"'),
];

const backEnds: [name: string, BackEnd, column: 1 | 2][] = [
  ["bubblewrap", { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" }, 1],
  ["Landlock", { kind: "landlock", version: 7 }, 2],
];

let base = "";
let root = "";
beforeAll(() => {
  base = realpathSync(mkdtempSync("/var/tmp/refusals-"));
  root = join(base, "workspace");
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, "build.mk"), "install:\n\tinstall -m 644 a /usr/agent-test\n");
  writeFileSync(join(root, "log.txt"), "touch: /etc/x: Read-only file system\ncp: /etc/x: Permission denied\n");
  for (const name of ["a", "not-executable", "unreadable"]) writeFileSync(join(root, name), "a\n");
  chmodSync(join(root, "unreadable"), 0);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("in bubblewrap a directory that is closed for what must not be created below it is named as protected", async () => {
  const [[, backEnd] = expect.fail()] = backEnds;
  const absentPaths = [join(root, "scripts/bin/clean")];
  const workspace = await open({ mode: "workspace-write", absentPaths }, backEnd);
  onTestFinished(() => workspace.close());
  await expectNote(workspace, "touch scripts/other", /^\[sandbox workspace-write\] \S*\/scripts\/other is protected:/);
});

const open = async (choice: Omit<PolicyOptions, "root">, backEnd: BackEnd, env: Record<string, string> = {}) =>
  openSandbox(sandboxPolicy({ root, git: "none", ...choice }), {
    serverProgram: await serverProgram(),
    env: { ...toolEnv(), NODE: process.execPath, ...env },
    incarnation: randomUUID(),
    backEnd,
  });

const notesOf = (output: string) => output.split("\n").filter((line) => line.includes("[sandbox "));

async function expectNote(workspace: OpenedWorkspace, line: string, note: RegExp | null): Promise<void> {
  const { all } = await bash(workspace, line);
  expect({ line, all, notes: notesOf(all) }).toMatchObject({ notes: note ? [expect.stringMatching(note)] : [] });
  if (note) expect(all.trimEnd().split("\n").at(-1)).toMatch(note);
}

describe.each(backEnds)("in %s", (_, backEnd, column) => {
  describe("with workspace-write", () => {
    let workspace: OpenedWorkspace;
    beforeAll(async () => {
      workspace = await open({ mode: "workspace-write" }, backEnd);
    });
    afterAll(() => workspace.close());
    test.each(inWorkspaceWrite)("%s", (...row) => expectNote(workspace, row[0], row[column]));

    test("package managers get variables that set them offline, and the user's own values win", async () => {
      const names = ["npm_config_fetch_retries", "PIP_RETRIES", "CARGO_NET_OFFLINE", "GOPROXY", "UV_OFFLINE"];
      const print = `printf '%s ' ${names.map((name) => `"$${name}"`).join(" ")}`;
      expect((await bash(workspace, print)).stdout).toBe("0 0 true off 1 ");
      const own = await open({ mode: "workspace-write" }, backEnd, {
        NPM_CONFIG_FETCH_RETRIES: "7",
        GOPROXY: "file:///p",
      });
      expect((await bash(own, print)).stdout).toBe(" 0 true file:///p 1 ");
      await own.close();
    });
  });

  describe("with read-only", () => {
    let workspace: OpenedWorkspace;
    beforeAll(async () => {
      mkdirSync(join(root, "secret"), { recursive: true });
      writeFileSync(join(root, "secret/key"), "key");
      workspace = await open({ mode: "read-only", hidden: [join(root, "secret")] }, backEnd);
    });
    afterAll(async () => {
      await workspace.close();
      rmSync(join(root, "secret"), { recursive: true });
    });
    test.each(inReadOnly)("%s", (...row) => expectNote(workspace, row[0], row[column]));
  });

  test("with the network on there is no note about it, and package managers are not set offline", async () => {
    const workspace = await open({ mode: "workspace-write", network: "on" }, backEnd);
    const { all } = await bash(
      workspace,
      "echo \"$GOPROXY$PIP_RETRIES\"; echo 'Could not resolve host: x' >&2; exit 6",
    );
    expect(all).toBe("\nCould not resolve host: x\n");
    await workspace.close();
  });
});

test("with a proxy the line names the hosts that can be reached", async () => {
  const backEnd: BackEnd = { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" };
  const workspace = await open(
    { mode: "workspace-write", network: "proxy", allowedDomains: ["registry.example.com"] },
    backEnd,
  );
  const { all } = await bash(workspace, 'echo "$GOPROXY"; exec 3<> /dev/tcp/192.0.2.1/80');
  expect(notesOf(all)).toEqual([expect.stringMatching(/The network is limited: .* only to registry\.example\.com/)]);
  expect(all).toMatch(/^\n/);
  await workspace.close();
});

test("without a sandbox nothing is added", async () => {
  const workspace = await openWorkspace(sandboxPolicy({ mode: "danger-full-access", root }), {
    serverProgram: await serverProgram(),
    env: toolEnv(),
    incarnation: randomUUID(),
  });
  const { all } = await bash(
    workspace,
    "echo \"$PIP_RETRIES\"; echo 'touch: /etc/x: Read-only file system' >&2; exit 1",
  );
  expect(all).toBe("\ntouch: /etc/x: Read-only file system\n");
  await workspace.close();
});
