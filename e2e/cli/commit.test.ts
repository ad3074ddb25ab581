// The agent commits its work, and changes nothing else in .git.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const identity = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

test("git add and commit work in workspace-write; any other change of .git fails", async () => {
  const harness = await openHarness({
    replies: [
      call("exec_command", { cmd: "echo hi > new.txt; touch .git/planted; git branch planted" }),
      call("exec_command", { cmd: "git add -A && git commit -m 'Add a file'" }),
      call("exec_command", { cmd: "git commit --allow-empty -m x; touch .git/planted" }),
      replyWith("Committed."),
    ],
  });
  const config = readFileSync(join(harness.repository, ".git/config"), "utf8");
  const { code, events } = await harness.events(["-s", "workspace-write", "commit it"], { env: identity });
  expect(code).toBe(0);
  const commands = itemsOf(events, "command_execution");
  expect(commands.map(({ status }) => status)).toEqual(["failed", "completed", "failed"]);
  expect(commands[1]?.aggregated_output).toMatch(/^\[main [0-9a-f]{7}\] Add a file\n/);
  expect(await harness.git("log", "--format=%an %s")).toBe("Ada Add a file\nTest First commit\n");
  expect(await harness.git("status", "--porcelain")).toBe("");
  expect(await harness.git("branch", "--list", "planted")).toBe("");
  expect(existsSync(join(harness.repository, ".git/planted"))).toBe(false);
  expect(readFileSync(join(harness.repository, ".git/config"), "utf8")).toBe(config);
});

test("read-only and git = none do not allow commits", async () => {
  for (const flags of [
    ["-s", "read-only"],
    ["-s", "workspace-write", "-c", "sandbox_workspace_write.git=none"],
  ]) {
    const harness = await openHarness({
      replies: [call("exec_command", { cmd: "git commit --allow-empty -m x" }), replyWith("Tried.")],
    });
    const { events } = await harness.events([...flags, "commit"], { env: identity });
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "failed" }]);
    expect(await harness.git("log", "--format=%s")).toBe("First commit\n");
  }
});
