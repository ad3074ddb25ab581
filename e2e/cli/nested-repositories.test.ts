// A run that creates a git repository below the workspace reports it, in events and to a person.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, waitForExit } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { expect, test } from "vitest";

const create = call("exec_command", {
  cmd: 'git init -q vendor && git -C vendor config core.fsmonitor "touch ../ran" && git add -A',
});
const replies = [create, replyWith("Done.")];
const warning = /This run created the git repository in vendor\. Its \.git was renamed to \.git\.untrusted/;

test("the warning is an item before the end of the turn, and the repository no longer runs programs", async () => {
  const { events: run, repository } = await openHarness({ replies });
  const { code, events } = await run(["-s", "workspace-write", "create it"]);
  expect(code).toBe(0);
  expect(itemsOf(events, "error")).toMatchObject([{ message: expect.stringMatching(warning) }]);
  expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  expect(existsSync(join(repository, "vendor/.git.untrusted/config"))).toBe(true);
  for (const args of [["add", "."], ["status"]]) execFileSync("git", args, { cwd: repository, stdio: "ignore" });
  expect(existsSync(join(repository, "ran"))).toBe(false);
});

test("a person reads it on stderr, and configuration may allow such repositories", async () => {
  const { run } = await openHarness({ replies: [...replies, ...replies] });
  expect((await run(["exec", "-s", "workspace-write", "create it"])).stderr).toMatch(warning);
  const flags = ["-s", "workspace-write", "-c", 'sandbox_workspace_write.nested_repositories="allowed"'];
  const { stderr } = await run(["exec", ...flags, "create it again"]);
  expect(stderr).toMatch(/This run (created|changed) the git repository in vendor\. Check its \.git/);
});

const createAgain = (prefix: string) =>
  call("exec_command", {
    cmd: `${prefix} sh -c 'trap "" TERM HUP; while :; do mkdir -p vendor/.git/objects vendor/.git/refs; echo "ref: refs/heads/main" > vendor/.git/HEAD; echo "[core] fsmonitor = touch ../ran" > vendor/.git/new; mv vendor/.git/new vendor/.git/config; done' > /dev/null 2>&1 < /dev/null & while ! test -f vendor/.git/config; do :; done`,
  });

test.each([
  ["that left its group", "setsid"],
  ["that left its group and its environment", 'setsid env -i PATH="$PATH"'],
])("a process %s cannot create the repository again after the search", async (_, prefix) => {
  const { run, repository } = await openHarness({ replies: [createAgain(prefix), replyWith("Done.")] });
  expect((await run(["exec", "-s", "workspace-write", "create it"])).stderr).toMatch(warning);
  expect(readdirSync(join(repository, "vendor"))).toEqual([".git.untrusted"]);
});

const creatingServer = `[mcp_servers.fake]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([stdioServerProgram, "repository=vendor"])}
sandbox = "workspace-write"
`;

test("an MCP server in the workspace has ended before the search, also where commands cannot write", async () => {
  const { run, repository } = await openHarness({ config: creatingServer, replies: [replyWith("Done.")] });
  const { stderr, code } = await run(["exec", "-s", "read-only", "do nothing"]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(warning)]);
  expect(readdirSync(join(repository, "vendor"))).toEqual([".git.untrusted"]);
});

test.each([
  ["exec", ["exec", "go on"]],
  ["sandbox run", ["sandbox", "run", "--", "true"]],
])("what a killed run has created is reported by the next %s", async (_, next) => {
  const forever = { stall: "before-headers" as const };
  const harness = await openHarness({ replies: [create, forever, replyWith("Done.")] });
  const { start, run, repository, home, requests } = harness;
  const killed = start(["exec", "-s", "workspace-write", "create it"]);
  await expect.poll(() => requests().length).toBe(2);
  killed.kill("SIGKILL");
  await waitForExit(killed);
  expect(readdirSync(join(repository, "vendor"))).toEqual([".git"]);
  const { stderr, code } = await run(next);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/A run that was killed created the git repository in vendor\. Its \.git was renamed/),
  ]);
  expect(readdirSync(join(repository, "vendor"))).toEqual([".git.untrusted"]);
  expect(existsSync(join(home, "unfinished-runs"))).toBe(false);
});
