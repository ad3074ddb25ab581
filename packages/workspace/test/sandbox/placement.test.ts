// A workspace that commands see at another path than the host.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { OpenedWorkspace } from "../../src/lifecycle/lazy.ts";
import { insidePath } from "../../src/sandbox/placement.ts";
import type { PolicyOptions } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { openInSandbox, openUnderLandlock, toolEnv } from "../support/locations.ts";

let base = "";
let root = "";
let workspace: OpenedWorkspace | undefined;
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/placement-"));
  root = join(base, "agent/shop");
  mkdirSync(join(base, "agent/.home"), { recursive: true });
  writeFileSync(join(base, "secret"), "not for agents");
  git(base, "init", "-q", "-b", "main", root);
  writeFileSync(join(root, "first.txt"), "first\n");
  git(root, "add", ".");
  git(root, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "first");
});
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
  rmSync(base, { recursive: true, force: true });
});

const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const choice = (): PolicyOptions => ({
  mode: "workspace-write",
  root,
  writableRoots: [join(base, "agent/.home")],
  view: "system",
  shown: [join(base, "agent")],
  placement: { directory: join(base, "agent"), path: "/workspace" },
});

async function open(): Promise<OpenedWorkspace> {
  workspace = await openInSandbox(choice(), { ...toolEnv(), HOME: "/workspace/.home" });
  return workspace;
}

test("commands, file tools and git work there, and nothing of the path on the host is visible", async () => {
  const inside = await open();
  expect(inside.root).toBe("/workspace/shop");
  const { stdout } = await bash(inside, `pwd; echo $(ls -A /workspace); ls -A ${base} /var 2>&1; echo home > ~/note`);
  expect(stdout).toContain("/workspace/shop\n.home shop\n");
  expect(stdout).toContain(`cannot access '${base}': No such file or directory`);
  expect(readFileSync(join(base, "agent/.home/note"), "utf8")).toBe("home\n");
  const committed = await bash(
    inside,
    "cd /workspace/shop && echo second > second.txt && git add -A && git -c user.name=A -c user.email=a@b commit -qm second && git rev-parse HEAD",
  );
  expect(committed).toMatchObject({ result: { exitCode: 0 }, stderr: "" });
  expect(git(root, "rev-parse", "main")).toBe(committed.stdout);
  expect(git(root, "status", "--short")).toBe("");
  const { files } = await inside.read({ files: [{ path: "/workspace/shop/second.txt", as: "lines" }] });
  expect(files).toMatchObject([{ kind: "lines", lines: ["second"] }]);
});

test("a repository that contains the directories of the workspace is not theirs", async () => {
  git(base, "init", "-q", "-b", "main", ".");
  const commit = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--allow-empty", "-qm", "outer"];
  git(base, ...commit);
  const before = git(base, "for-each-ref");
  const inside = await open();
  const tried = await bash(
    inside,
    `ls -A ${base} 2>&1; git -C ~ log 2>&1; git --git-dir=${base}/.git branch stolen 2>&1`,
  );
  expect(tried.stdout).toContain(`cannot access '${base}': No such file or directory`);
  expect(tried.stdout).not.toContain("outer");
  expect(git(base, "for-each-ref")).toBe(before);
});

test("what is protected on the host is protected there, and refusals name the path that commands use", async () => {
  const inside = await open();
  const refused = await bash(
    inside,
    "echo x > /workspace/other; mkdir .agentcli; rm -rf .git/host; echo x > .git/host/config",
  );
  expect(refused.result).toMatchObject({ exitCode: 1 });
  expect(refused.all).toMatch(/Read-only file system[\s\S]*\/workspace\/shop/);
  expect(refused.all).not.toContain(base);
  expect(existsSync(join(base, "agent/other"))).toBe(false);
  await inside.close();
  workspace = undefined;
  expect(existsSync(join(root, ".agentcli"))).toBe(false);
  expect(git(root, "status", "--short")).toBe("");
});

test("a repository that a command makes below it is found on the host", async () => {
  const inside = await open();
  await bash(inside, "mkdir vendor && cd vendor && git init -q . && git config core.fsmonitor ./x");
  expect(await inside.findRepositoryChanges?.()).toEqual([expect.stringContaining("git repository in vendor.")]);
  expect(existsSync(join(root, "vendor/.git"))).toBe(false);
});

test("a back end without mounts refuses it", async () => {
  const { view: _, ...placed } = choice();
  await expect(openUnderLandlock(placed)).rejects.toThrow("which landlock cannot give");
});

test("a path beside the placed directory stays as it is", () => {
  const placement = { directory: "/data/agent", path: "/workspace" };
  const paths = ["/data/agent", "/data/agent/shop/x", "/data/agent2/x", "/data", "/"];
  expect(paths.map((path) => insidePath(placement, path))).toEqual([
    ...["/workspace", "/workspace/shop/x", "/data/agent2/x", "/data", "/"],
  ]);
  expect(insidePath(null, "/data/agent/shop")).toBe("/data/agent/shop");
});
