// The agent uses git on its work, and changes neither configuration nor hooks.
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

test("git works in workspace-write; configuration and other files of .git stay as they are", async () => {
  const harness = await openHarness({
    replies: [
      call("exec_command", { cmd: "echo hi > new.txt; touch .git/planted; git config core.pager evil" }),
      call("exec_command", { cmd: "git checkout -q -b topic; git add -A && git commit -m 'Add a file' | cat" }),
      replyWith("Committed."),
    ],
  });
  const config = readFileSync(join(harness.repository, ".git/config"), "utf8");
  const { code, events } = await harness.events(["-s", "workspace-write", "commit it"], { env: identity });
  expect(code).toBe(0);
  const commands = itemsOf(events, "command_execution");
  expect(commands.map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect(commands[0]?.aggregated_output).toBe("The change of .git/config stays in this sandbox.\n");
  expect(commands[1]?.aggregated_output).toMatch(/^\[topic [0-9a-f]{7}\] Add a file\n/);
  expect(await harness.git("log", "--format=%an %s", "topic")).toBe("Ada Add a file\nTest First commit\n");
  expect(await harness.git("symbolic-ref", "--short", "HEAD")).toBe("topic\n");
  expect(await harness.git("status", "--porcelain")).toBe("");
  expect(existsSync(join(harness.repository, ".git/planted"))).toBe(false);
  expect(readFileSync(join(harness.repository, ".git/config"), "utf8")).toBe(config);
});

test("a commit of a command that still runs when the turn ends is in the repository", async () => {
  const cmd = "git commit -q --allow-empty -m late; echo done > committed; sleep 600";
  const harness = await openHarness({
    replies: [
      call("exec_command", { cmd, yield_time_ms: 250 }),
      call("exec_command", { cmd: "until [ -e committed ]; do sleep 0.05; done" }),
      replyWith("Committed."),
    ],
  });
  const { code } = await harness.events(["-s", "workspace-write", "commit it"], { env: identity });
  expect(code).toBe(0);
  expect(await harness.git("log", "--format=%s")).toBe("late\nFirst commit\n");
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
