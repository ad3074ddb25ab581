// What operators see of runs: metrics, log lines, and the state of the platform.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { openRunHarness, type RunHarnessOptions } from "./run-harness.ts";

const secret = "hunter2-and-more";

async function openWatched(options: RunHarnessOptions) {
  const lines: string[] = [];
  const log = openLog({ write: (line) => lines.push(line), now: () => new Date() });
  const harness = await openRunHarness(options, log);
  const { client } = harness;
  return {
    ...harness,
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    text: () => lines.join(""),
    async metric(series: string): Promise<number | undefined> {
      const text = await (await fetch(`${client.url}/metrics`)).text();
      const line = text.split("\n").find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.split(" ").at(-1));
    },
  };
}

test("a run is counted by status, timed, priced, and has one log line at its start and one at its end", async () => {
  const { client, log, text, metric } = await openWatched({
    replies: [call("exec_command", { cmd: "echo hello" }), replyWith(`The word is ${secret}.`)],
  });
  const ids = await client.create({ prompt: { text: `Say ${secret}` }, envVars: { WORD: secret } });
  await client.waitForRun(ids);
  const ours = { runId: ids.runId, agentId: ids.agentId, teamId: expect.any(Number) };
  await expect
    .poll(() => log().filter(({ event }) => /^run\./.test(String(event))))
    .toEqual([
      expect.objectContaining({ event: "run.started", ...ours, model: "scripted", provider: "scripted" }),
      expect.objectContaining({
        event: "run.ended",
        ...ours,
        status: "FINISHED",
        code: null,
        durationMs: expect.any(Number),
        inputTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        costUsd: expect.stringMatching(/^\d+\.\d{6}$/),
      }),
    ]);
  expect(text()).not.toContain(secret);
  expect(await metric("platform_runs_started_total")).toBe(1);
  expect(await metric('platform_runs_ended_total{status="FINISHED"}')).toBe(1);
  expect(await metric('platform_runs_ended_total{status="ERROR"}')).toBe(0);
  expect(await metric("platform_run_claim_latency_seconds_count")).toBe(1);
  expect(await metric("platform_run_first_token_latency_seconds_count")).toBe(1);
  expect(await metric('platform_run_duration_seconds_count{status="FINISHED"}')).toBe(1);
  expect(await metric('platform_run_tokens_total{kind="output"}')).toBeGreaterThan(0);
  expect(await metric("platform_run_cost_usd_total")).toBeGreaterThan(0);
  expect(await metric('platform_sandbox_starts_total{outcome="started"}')).toBeGreaterThan(0);
  expect(await metric('platform_runs{status="RUNNING"}')).toBe(0);
});

test("a run that fails is counted with its code, and its log line has it", async () => {
  const { client, log, metric } = await openWatched({ replies: [], models: { model: "m", model_provider: "gone" } });
  await client.waitForRun(await client.create("hello"));
  await expect
    .poll(() => log().find(({ event }) => event === "run.ended"))
    .toMatchObject({ status: "ERROR", code: "refused" });
  expect(await metric('platform_run_errors_total{code="refused"}')).toBe(1);
});

test("runs that wait are in the queue, with the age of the oldest, and in the state of the platform", async () => {
  const { client, metric } = await openWatched({ replies: [], settings: { roles: ["api"] } });
  await client.create("one");
  await client.create("two");
  expect(await metric("platform_run_queue_length")).toBe(2);
  expect(await metric("platform_run_queue_oldest_age_seconds")).toBeGreaterThan(0);
  expect(await metric("platform_database_up")).toBe(1);
  const status = await client.getJson<Record<string, unknown>>("/v1/status");
  expect(status).toMatchObject({
    status: "degraded",
    problems: expect.arrayContaining(["No server with the role runner is running: runs wait."]),
    roles: ["api"],
    runs: { queued: 2, running: 0 },
    model: { id: "scripted", provider: "scripted", practice: false },
    database: { version: expect.stringMatching(/^\d+/) },
    storage: { freeBytes: expect.any(Number), sizeBytes: expect.any(Number) },
    webhooks: { waiting: 0 },
  });
});
