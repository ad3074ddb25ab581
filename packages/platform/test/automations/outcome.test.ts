// A whole server: a schedule starts a run, and the firing shows how the run ended.
import type { Firing } from "@agentcli/protocol/api";
import { fault } from "@agentcli/testkit";
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
