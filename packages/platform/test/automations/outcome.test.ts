// A whole server: a schedule starts a run, and the firing shows how the run ended.
import type { Firing } from "@agentcli/protocol/api";
import { call, fault } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { command } from "../harness/command.ts";
import { openRunHarness } from "../runs/run-harness.ts";

test("a firing shows how its run ended, and one that failed raises an alert", async () => {
  const { client, fixture } = await openRunHarness({
    replies: {
      replies: [{ messages: ["tidy"], when: { bodyIncludes: "work well" } }, fault(400)],
      repeat: "always",
    },
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const settings = { ...fixture.platform.settings, databaseUrl: fixture.databaseUrl };
  const platform = { ...fixture.platform, settings };
  const outcomeOf = async (text: string) => {
    const body = { name: text, prompt: { text }, triggers: [{ type: "webhook" }] };
    const { id } = (await client.post("/v1/automations", body)).body as { id: string };
    const { agentId, runId } = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
    await client.waitForRun({ agentId: agentId ?? "", runId: runId ?? "" });
    const { items } = await client.getJson<{ items: Firing[] }>(`/v1/automations/${id}/firings`);
    const alerts = await client.getJson<{ items: { message: string }[] }>(`/v1/automations/${id}/alerts`);
    const printed = await command({ platform }, "automations", "firings", text);
    return { runId, printed, statuses: items.map(({ runStatus }) => runStatus), alerts: alerts.items };
  };
  expect(await outcomeOf("work well")).toMatchObject({
    ...{ statuses: ["FINISHED"], alerts: [] },
    printed: expect.stringMatching(/ {2}Finished$/),
  });
  const failed = await outcomeOf("work badly");
  expect(failed).toMatchObject({
    ...{ statuses: ["ERROR"], printed: expect.stringMatching(/ {2}Failed$/) },
    alerts: [{ kind: "run_failed", message: `Run ${failed.runId} has failed.` }],
  });
});

test("a run is stopped at what its automation may spend, and the next one does not start", async () => {
  const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 100_000 };
  const { client } = await openRunHarness({
    replies: { replies: [call("exec_command", { cmd: "true" }, { usage })], repeat: "last" },
  });
  const limits = { usdPerRun: "3.5", usdPerDay: "4" };
  const body = { name: "limited", prompt: { text: "spend" }, triggers: [{ type: "webhook" }], limits };
  const { id } = (await client.post("/v1/automations", body)).body as { id: string };
  const { agentId = "", runId = "" } = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
  await client.waitForRun({ agentId, runId });
  expect(await client.read({ agentId, runId })).toMatchObject({ status: "ERROR", error: { code: "budget" } });
  expect((await client.post(`/v1/automations/${id}/run`)).body).toMatchObject({
    status: "skipped",
    reason: expect.stringMatching(
      /^Runs of today have cost, or may still cost, \d+\.\d{6} USD; limits.usdPerDay is 4, and each run may cost 3\.5\.$/,
    ),
  });
});

test("disabling with cancelRuns ends the run that is active, and what waits is skipped", async () => {
  const { client } = await openRunHarness({ replies: [call("exec_command", { cmd: "sleep 600" })] });
  const limits = { concurrent: 1 };
  const body = { name: "busy", prompt: { text: "sleep" }, triggers: [{ type: "webhook" }], limits };
  const { id } = (await client.post("/v1/automations", body)).body as { id: string };
  const { agentId = "", runId = "" } = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
  expect((await client.post(`/v1/automations/${id}/run`)).body).toMatchObject({ status: "planned" });
  await client.post(`/v1/automations/${id}/disable`, { cancelRuns: true });
  await client.waitForRun({ agentId, runId });
  const { items } = await client.getJson<{ items: Firing[] }>(`/v1/automations/${id}/firings`);
  expect(items.map(({ status, runStatus, reason }) => [status, runStatus, reason])).toEqual([
    ["skipped", undefined, expect.stringContaining("The automation is disabled: Disabled by")],
    ["started", "CANCELLED", "Its run was cancelled when the automation was disabled."],
  ]);
});
