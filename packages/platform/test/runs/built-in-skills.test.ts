// Skills of the platform itself: a prompt calls them by name.
import { call } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const timer = call("mcp__platform__set_timer", { delaySeconds: 3600, note: "look again" });

test("/subscribe tells the model how to wait; people list what it waits for, and cancel it", async () => {
  const harness = await openRunHarness({ replies: [timer, { messages: ["I wait an hour."] }] });
  const { client, requests } = harness;
  const { agentId, runId } = await client.create("/subscribe look again in an hour");
  await client.waitForRun({ agentId, runId });
  const [first] = requests();
  expect(JSON.stringify(first?.body)).toContain("<name>subscribe</name>");
  const path = `/v1/agents/${agentId}/subscriptions`;
  const { items } = await client.getJson<{ items: { id: string; status: string }[] }>(path);
  expect(items).toMatchObject([{ source: "timer", status: "active", createdBy: `agent:${agentId}` }]);
  expect((await client.send("DELETE", `${path}/${items[0]?.id}`)).status).toBe(200);
  expect(await client.getJson(path)).toMatchObject({ items: [{ status: "cancelled" }] });
});

test("a skill of the repository with the same name comes before it, and other prompts get none", async () => {
  const harness = await openRunHarness({ replies: [{ messages: ["one"] }, { messages: ["two"] }] });
  const { client, requests } = harness;
  const skill = "---\nname: subscribe\ndescription: Ours.\n---\nCall the shop.\n";
  const url = await harness.repository("shop", { ".platform/skills/subscribe/SKILL.md": skill });
  const own = await client.create("/subscribe to it", { repos: [{ url }] });
  await client.waitForRun(own);
  const other = await client.create("subscribe to it, without a slash");
  await client.waitForRun(other);
  const [first = "", second = ""] = requests().map(({ body }) => JSON.stringify(body));
  expect(first).toContain("Call the shop.");
  expect(first).not.toContain("subscribe_to_pull_request` with its number");
  expect(second).not.toContain("<name>subscribe</name>");
});
