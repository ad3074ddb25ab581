import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { startTestCollector } from "@agentcli/testkit/otlp";
import { expect, test } from "vitest";

const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const env = { TRACEPARENT: `00-${parent.traceId}-${parent.spanId}-01` };
const replies = () => [
  call("exec_command", { cmd: "echo $TRACEPARENT; cat secret-file; exit 3" }),
  replyWith("The private answer.", { usage: { inputTokens: 120, cachedInputTokens: 100, outputTokens: 7 } }),
];

test("the trace of a run reaches a collector, as part of the trace that it was started in and without any text", async () => {
  const collector = await startTestCollector();
  const file = { "secret-file": "private code\n" };
  const harness = await openHarness({ replies: replies(), files: file });
  const otel = ["-c", `otel.endpoint="${collector.url}"`, "-c", `otel.file="${join(harness.home, "otel.jsonl")}"`];
  const { code, events } = await harness.events([...otel, "a private prompt"], { env });
  expect(code).toBe(0);
  expect(collector.refused()).toEqual([]);
  const spans = collector.spans();
  const [first, tool, second, turn] = spans;
  expect(spans.map(({ name }) => name)).toEqual([
    ...["chat scripted", "execute_tool exec_command", "chat scripted", "invoke_agent agentcli"],
  ]);
  expect(turn).toMatchObject({ ...{ traceId: parent.traceId, parentSpanId: parent.spanId }, status: {} });
  for (const inner of [first, tool, second])
    expect(inner).toMatchObject({ traceId: parent.traceId, parentSpanId: turn?.spanId });
  expect(second?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "scripted",
    "gen_ai.usage.input_tokens": "120",
    "gen_ai.usage.cache_read.input_tokens": "100",
    "gen_ai.usage.output_tokens": "7",
  });
  const [output] = itemsOf(events, "command_execution").map(({ aggregated_output }) => String(aggregated_output));
  expect(output).toContain(`00-${parent.traceId}-${turn?.spanId}-01\nprivate code\n`);
  expect(collector.text()).not.toContain("private");
  const { "gen_ai.client.token.usage": tokens, "gen_ai.client.operation.duration": durations } = collector.metrics();
  expect(tokens?.map(({ attributes }) => attributes["gen_ai.token.type"])).toEqual(["input", "output"]);
  expect(durations?.map(({ count }) => count)).toEqual(["2"]);
  const written = readFileSync(join(harness.home, "otel.jsonl"), "utf8").trim().split("\n");
  expect(written.join("\n")).toBe(collector.text());
});

test("prompts, replies and results are sent where the user has asked for them", async () => {
  const collector = await startTestCollector();
  const { run } = await openHarness({ replies: replies(), files: { "secret-file": "private code\n" } });
  const otel = ["-c", `otel.endpoint="${collector.url}"`, "-c", "otel.include_content=true"];
  expect(await run(["exec", ...otel, "a private prompt"])).toMatchObject({ code: 0 });
  expect(collector.refused()).toEqual([]);
  for (const text of ["a private prompt", "private code", "The private answer."])
    expect(collector.text()).toContain(text);
});

test("a collector that does not answer is a warning, and nothing is sent without [otel]", async () => {
  const { run } = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
  const unreachable = await run(["exec", "-c", 'otel.endpoint="http://127.0.0.1:9"', "hi"]);
  expect(unreachable).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(unreachable.stderr.match(/warning: Telemetry could not be sent to http:\/\/127\.0\.0\.1:9\//g)).toHaveLength(
    1,
  );
  const collector = await startTestCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  expect(await run(["exec", "hi"], { env })).toMatchObject({ code: 0 });
  expect(collector.text()).toBe("");
});
