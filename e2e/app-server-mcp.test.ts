// MCP servers of a thread: how they come up, what needs consent, and what they ask themselves.
import { call, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { fakeServer } from "../packages/mcp/test/fake-server-path.ts";
import { startServer } from "./app-server-client.ts";
import { completedItems, messagesOf, runTurn } from "./app-server-turns.ts";
import { type DeskOptions, desk, toolOutputs } from "./harness.ts";

const question = "mcpServer/elicitation/request";
const fake = (keys = "") =>
  `[mcp_servers.fake]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([fakeServer])}\n${keys}\n`;

async function opened(options: DeskOptions) {
  const at = await desk(options);
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", { approvalPolicy: "on-request" });
  return { at, server, client, threadId: thread.id as string };
}

test("a server is told to start and to be ready, and keeps running between turns", async () => {
  const { at, client, threadId } = await opened({
    config: fake('default_tools_approval_mode = "approve"'),
    // The slow call gives the list of tools the time to be read again.
    replies: [
      call("mcp__fake__grow", {}),
      call("mcp__fake__slow", {}),
      say("One."),
      call("mcp__fake__grown", {}),
      say("Two."),
    ],
  });
  await client.until(({ method, params }) => method === "mcpServer/startupStatus/updated" && params.status === "ready");
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
  expect(toolOutputs(at.requests().at(-1)).at(-1)).toContain("grown up");
});

test("a tool that needs consent is asked about once for the session, and declined where the person says so", async () => {
  const { at, client, threadId } = await opened({
    config: fake(),
    replies: [call("mcp__fake__write", {}), call("mcp__fake__erase", {}), say("Done.")],
  });
  client.answer(question, ({ _meta }) => ({ action: _meta.tool === "write" ? "accept" : "decline" }));
  const turn = await runTurn(client, threadId, "Write and erase.");
  expect(messagesOf(client, question)).toMatchObject([
    { serverName: "fake", mode: "form", _meta: { codex_approval_kind: "mcp_tool_call", tool: "write" } },
    { _meta: { tool: "erase" } },
  ]);
  expect(completedItems(client, turn.id, "mcpToolCall")).toMatchObject([
    { tool: "write", status: "completed" },
    { tool: "erase", status: "failed", error: { message: "rejected by user" } },
  ]);
  expect(toolOutputs(at.requests().at(-1)).at(-1)).toBe("rejected by user");
});

test("what a server asks is put to the person, and both question and answer are in the log", async () => {
  const { at, client, threadId } = await opened({
    config: fake('default_tools_approval_mode = "approve"'),
    replies: [call("mcp__fake__ask", {}), say("Done.")],
  });
  client.answer(question, () => ({ action: "accept", content: { name: "Ada" } }));
  await runTurn(client, threadId, "Ask.");
  expect(messagesOf(client, question)).toMatchObject([{ threadId, serverName: "fake", message: "Name?" }]);
  expect(toolOutputs(at.requests().at(-1)).at(-1)).toContain('"name":"Ada"');
  const notes = at.records().filter(({ record }) => record.kind === "approval");
  expect(notes.map(({ record }) => record.data)).toMatchObject([{ asked: true, server: "fake" }, { action: "accept" }]);
});
