// Threads and turns over the app server, as another program drives them.
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { startServer, summarize } from "./client.ts";

test("a turn is started, streamed and completed, in the measured order", async () => {
  const harness = await openHarness({ replies: [replyWith("Hello there, friend.", { deltas: 3 })] });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread, model, cwd } = await client.request("thread/start", {});
  expect({ model, cwd }).toEqual({ model: "scripted", cwd: harness.repository });
  const { turn } = await client.request("turn/start", {
    threadId: thread.id,
    input: [{ type: "text", text: "Say hello." }],
  });
  const completed = await client.notification("turn/completed");
  expect(completed.params.turn).toMatchObject({
    id: turn.id,
    status: "completed",
    itemsView: "summary",
    items: [{ type: "agentMessage", text: "Hello there, friend." }],
  });
  const deltas = client.received.filter(({ method }) => method === "item/agentMessage/delta");
  expect(deltas.map(({ params }) => params.delta).join("")).toBe("Hello there, friend.");
  expect(summarize(client.received, thread.id)).toEqual([
    "thread/started",
    "thread/status/changed(active)",
    "turn/started(inProgress)",
    "item/started(userMessage)",
    "item/completed(userMessage)",
    "item/started(agentMessage)",
    "item/completed(agentMessage)",
    "thread/tokenUsage/updated",
    "thread/status/changed(idle)",
    "turn/completed(completed)",
  ]);
  expect(await server.end()).toBe(0);
});

test("a command runs, and its output comes while it runs", async () => {
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: "echo one; echo two >&2; exit 3" }), replyWith("It failed.")],
  });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  await client.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "Run it." }] });
  await client.notification("turn/completed");
  const { item } = (
    await client.waitFor(({ method, params }) => method === "item/completed" && params.item.type === "commandExecution")
  ).params;
  expect(item).toMatchObject({ status: "failed", exitCode: 3, cwd: harness.repository, source: "agent" });
  expect(item.aggregatedOutput).toContain("one\n");
  const deltas = client.received.filter(({ method }) => method === "item/commandExecution/outputDelta");
  expect(deltas.map(({ params }) => params.delta).join("")).toBe(item.aggregatedOutput);
  expect(await server.end()).toBe(0);
});
