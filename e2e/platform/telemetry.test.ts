import { startTestCollector } from "@agentcli/testkit/otlp";
import { servePlatformForTest, startTestWorker } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

test("the trace of a run on a worker reaches a collector, as part of the trace of the request", async () => {
  const collector = await startTestCollector();
  const {
    harness,
    server,
    client: open,
  } = await servePlatformForTest({
    env: { PLATFORM_OTEL_ENDPOINT: collector.url },
    replies: {
      replies: [
        { calls: [{ name: "exec_command", arguments: { cmd: "echo $TRACEPARENT" } }] },
        { messages: ["All done."] },
      ],
    },
  });
  const client = await open();
  const worker = startTestWorker({ url: server.url, key: client.key, directory: harness.directory });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  const traceparent = `00-${parent.traceId}-${parent.spanId}-01`;
  const body = { prompt: { text: "a private prompt" }, env: { type: "machine" } };
  const { agent, run } = JSON.parse((await client.post("/v1/agents", body, { traceparent })).text);
  const ids = { agentId: agent.id, runId: run.id };
  const frames = await client.stream(ids);
  await expect.poll(() => collector.spans().map(({ name }) => name)).toContain("invoke_agent platform");
  expect(collector.refused()).toEqual([]);
  const turn = collector.spans().find(({ name }) => name === "invoke_agent platform");
  expect(turn).toMatchObject({ ...{ traceId: parent.traceId, parentSpanId: parent.spanId }, status: {} });
  expect(turn?.attributes).toMatchObject({
    "gen_ai.agent.id": agent.id,
    "platform.run.id": run.id,
    "platform.worker": expect.stringContaining("worker"),
  });
  const inner = collector.spans().filter(({ spanId }) => spanId !== turn?.spanId);
  expect(inner.map(({ parentSpanId }) => parentSpanId)).toEqual(inner.map(() => turn?.spanId));
  // The command on the worker is part of the trace.
  expect(JSON.stringify(frames)).toContain(`00-${parent.traceId}-${turn?.spanId}-01`);
  expect(collector.text()).not.toContain("private");
});
