// Repositories that are created in the workspace when no turn is open: by MCP servers, sub-agents and commands of a client.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { expect, test } from "vitest";
import { startServer } from "./client.ts";
import { messagesOf, runTurn } from "./turns.ts";

const create = 'git init -q vendor && git -C vendor config core.fsmonitor "touch ../ran"';
const reported = /This run created the git repository in vendor\. Its \.git was renamed to \.git\.untrusted/;

test("an MCP server that runs on after the turn leaves no repository behind when its thread is closed", async () => {
  const harness = await openHarness({
    config: `[mcp_servers.fake]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([stdioServerProgram, "repository=vendor"])}\nsandbox = "workspace-write"\n`,
    replies: [replyWith("Done.")],
  });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  await runTurn(client, thread.id, "Do nothing.");
  const vendor = join(harness.repository, "vendor");
  await expect.poll(() => existsSync(join(vendor, ".git/config"))).toBe(true);
  expect(await server.end()).toBe(0);
  expect(readdirSync(vendor).filter((name) => !name.startsWith(".git.untrusted"))).toEqual([]);
});

test("a repository that a sub-agent creates after the turn is reported when the sub-agent rests", async () => {
  const wait = `until test -e go; do sleep 0.1; done; ${create}`;
  const harness = await openHarness({
    replies: [
      call("spawn_agent", { message: "create it" }, { when: { bodyIncludes: "Start an agent." } }),
      replyWith("Done.", { when: { bodyIncludes: "Start an agent." } }),
      call("exec_command", { cmd: wait, yield_time_ms: 30_000 }),
      replyWith("Created."),
    ],
  });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", { sandbox: "workspace-write" });
  await runTurn(client, thread.id, "Start an agent.");
  writeFileSync(join(harness.repository, "go"), "");
  await client.waitFor(({ method, params }) => method === "warning" && reported.test(params.message));
  expect(readdirSync(join(harness.repository, "vendor"))).toEqual([".git.untrusted"]);
});

test("a repository that a command of the client creates is reported before the result of the command", async () => {
  const harness = await openHarness();
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const sandboxPolicy = { type: "workspaceWrite" };
  await client.request("command/exec", { command: ["sh", "-c", create], sandboxPolicy });
  expect(messagesOf(client, "warning")).toMatchObject([{ message: expect.stringMatching(reported) }]);
  expect(readdirSync(join(harness.repository, "vendor"))).toEqual([".git.untrusted"]);
});
