// MCP servers of a thread: startup, approval of tools, and elicitation.
import { call, replyWith } from "@agentcli/testkit";
import { type HarnessOptions, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { expect, test } from "vitest";
import { startServer } from "./client.ts";
import { completedItems, messagesOf, runTurn } from "./turns.ts";

const question = "mcpServer/elicitation/request";
const fake = (keys = "") =>
  `[mcp_servers.fake]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([stdioServerProgram])}\n${keys}\n`;

async function opened(options: HarnessOptions) {
  const harness = await openHarness(options);
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", { approvalPolicy: "on-request" });
  return { harness, server, client, threadId: thread.id as string };
}

test("a server is reported as starting and ready, and keeps running between turns", async () => {
  const { harness, client, threadId } = await opened({
    config: fake('default_tools_approval_mode = "approve"'),
    // The slow call gives the list of tools the time to be read again.
    replies: [
      call("mcp__fake__grow", {}),
      call("mcp__fake__slow", {}),
      replyWith("One."),
      call("mcp__fake__grown", {}),
      replyWith("Two."),
    ],
  });
  await client.waitFor(
    ({ method, params }) => method === "mcpServer/startupStatus/updated" && params.status === "ready",
  );
  expect(messagesOf(client, "mcpServer/startupStatus/updated")).toMatchObject([
    { threadId, name: "fake", status: "starting" },
    { threadId, name: "fake", status: "ready" },
  ]);
  const first = await runTurn(client, threadId, "Grow.");
  expect(completedItems(client, first.id, "mcpToolCall")).toMatchObject([
    { server: "fake", tool: "grow", status: "completed", result: { content: [{ text: "one more tool" }] } },
    { tool: "slow", status: "completed" },
  ]);
  const second = await runTurn(client, threadId, "Use it.");
  expect(completedItems(client, second.id, "mcpToolCall")).toMatchObject([{ tool: "grown", status: "completed" }]);
  expect(toolOutputs(harness.requests().at(-1)).at(-1)).toContain("grown up");
});

test("a tool that needs approval is asked about once for the session, and declined where the user declines", async () => {
  const { harness, client, threadId } = await opened({
    config: fake(),
    replies: [call("mcp__fake__write", {}), call("mcp__fake__erase", {}), replyWith("Done.")],
  });
  client.answerRequests(question, ({ _meta }) => ({ action: _meta.tool === "write" ? "accept" : "decline" }));
  const turn = await runTurn(client, threadId, "Write and erase.");
  expect(messagesOf(client, question)).toMatchObject([
    { serverName: "fake", mode: "form", _meta: { codex_approval_kind: "mcp_tool_call", tool: "write" } },
    { _meta: { tool: "erase" } },
  ]);
  expect(completedItems(client, turn.id, "mcpToolCall")).toMatchObject([
    { tool: "write", status: "completed" },
    { tool: "erase", status: "failed", error: { message: "rejected by user" } },
  ]);
  expect(toolOutputs(harness.requests().at(-1)).at(-1)).toBe("rejected by user");
});

test("a tool that changed after it was approved is asked about, and the question says so", async () => {
  const { client, threadId } = await opened({
    config: fake('default_tools_approval_mode = "approve"'),
    // The slow call gives the list of tools the time to be read again.
    replies: [
      call("mcp__fake__alter", {}),
      call("mcp__fake__slow", {}),
      call("mcp__fake__echo", { message: "hello" }),
      replyWith("Done."),
    ],
  });
  client.answerRequests(question, () => ({ action: "decline" }));
  const turn = await runTurn(client, threadId, "Alter, then echo.");
  expect(messagesOf(client, question)).toMatchObject([
    { serverName: "fake", message: "Allow the tool echo of fake to run? It changed after it was approved." },
  ]);
  expect(completedItems(client, turn.id, "mcpToolCall").at(-1)).toMatchObject({ tool: "echo", status: "failed" });
});

test("an elicitation is sent to the client, and both question and answer are recorded", async () => {
  const { harness, client, threadId } = await opened({
    config: fake('default_tools_approval_mode = "approve"'),
    replies: [call("mcp__fake__ask", {}), replyWith("Done.")],
  });
  client.answerRequests(question, () => ({ action: "accept", content: { name: "Ada" } }));
  await runTurn(client, threadId, "Ask.");
  expect(messagesOf(client, question)).toMatchObject([{ threadId, serverName: "fake", message: "Name?" }]);
  expect(toolOutputs(harness.requests().at(-1)).at(-1)).toContain('"name":"Ada"');
  const notes = harness.records().filter(({ record }) => record.kind === "approval");
  expect(notes.map(({ record }) => record.data)).toMatchObject([{ asked: true, server: "fake" }, { action: "accept" }]);
});
