// The automatic fix of failed checks: what it does not look at, how long it lasts, and the whole way on the embedded host.
import { call } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { automationRetention } from "../../src/automations/retention.ts";
import { listSubscriptions } from "../../src/automations/subscriptions/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openRunHarness } from "../runs/run-harness.ts";
import { appId, openFixing, repoUrl, suiteOf } from "./ci-fix-harness.ts";

test("a check suite that the platform itself published is followed by nothing", async () => {
  const { host, fixture, agentId } = await openFixing();
  const { db, vault, settings } = fixture.platform;
  const { teamId } = fixture.principal;
  const key = await teamKey(db, vault, teamId);
  const { source } = await insertSource(db, { teamId, name: "shop", key });
  const body = Buffer.from(JSON.stringify({ repository: { id: 1, html_url: repoUrl }, ...suiteOf("failure") }));
  const deliver = async (own: number) => {
    const credentials = { kind: "app" as const, appId: String(own), privateKeyFile: "key.pem" };
    const github = { baseUrl: "https://api.git.example.com", client: null, credentials };
    const sourceHosts = { ...settings.sourceHosts, github };
    await storeDelivery(db, { source, deliveryId: `of ${own}`, name: "check_suite", key, body }, null);
    await processEvents({ ...host, platform: { ...host.platform, settings: { ...settings, sourceHosts } } });
    return (await listSubscriptions(db, agentId)).length;
  };
  expect(await deliver(appId)).toBe(0);
  expect(await deliver(appId + 1)).toBe(1);
});

test("`autofix on` lets it run as long as a new one, and its wake-ups are known until it ends", async () => {
  const { check, comment, wake, host, fixture, agentId } = await openFixing();
  const { db } = fixture.platform;
  await check("failure");
  await wake();
  await db
    .updateTable("subscriptions")
    .set({ expires_at: new Date("2026-03-03") })
    .execute();
  await comment("@platform autofix on");
  const [subscription] = await listSubscriptions(db, agentId);
  expect(subscription?.expires_at.getTime()).toBeGreaterThan(host.now().getTime() + 179 * 24 * 60 * 60 * 1000);
  const long = new Date("2020-01-01");
  await db.updateTable("wake_ups").set({ created_at: long }).execute();
  await db.updateTable("subscription_events").set({ created_at: long }).execute();
  const countKept = async () => {
    for (const rule of automationRetention(db, 90)) for await (const _ of rule.remove());
    return (await db.selectFrom("wake_ups").select("id").execute()).length;
  };
  expect(await countKept()).toBe(1);
  await comment("@platform autofix off");
  expect(await countKept()).toBe(0);
});

test("on the embedded host an agent opens a pull request, CI fails, and the agent pushes a fix to the same pull request", async () => {
  const write = (text: string) => call("exec_command", { cmd: `echo ${text} > fix.txt` });
  const harness = await openRunHarness({
    replies: [write("wrong"), { messages: ["Done."] }, write("right"), { messages: ["Fixed."] }],
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const { client, fixture, requests } = harness;
  const { db } = fixture.platform;
  const url = await harness.repository("shop", { "a.txt": "a\n" });
  const { agentId, runId } = await client.create("fix it", { repos: [{ url }], autoCreatePR: true });
  await client.waitForRun({ agentId, runId });
  const handoff = () => db.selectFrom("handoffs").selectAll().where("agent_id", "=", agentId).executeTakeFirstOrThrow();
  const { pushed_commit: wrong, pr_url } = await handoff();
  const status = { state: "failure", context: "test", description: "expected right" };
  expect((await client.post(`/git/shop/statuses/${wrong}`, status)).status).toBeLessThan(300);
  await expect.poll(async () => (await handoff()).pushed_commit).not.toBe(wrong);
  expect((await handoff()).pr_url).toBe(pr_url);
  expect(
    requests()
      .map(({ body }) => JSON.stringify(body))
      .join("\n"),
  ).toContain("A check of your pull request has failed");
  expect(await client.getJson(`/v1/agents/${agentId}/subscriptions`)).toMatchObject({
    items: [{ source: "ci_fix", status: "active", filter: { pullRequest: 1 }, createdBy: "platform" }],
  });
  const comments = async () =>
    (await client.getJson<{ items: { author: string; body: string }[] }>("/git/shop/pulls/1/comments")).items
      .filter(({ author }) => author === "platform")
      .map(({ body }) => body.split(". ").slice(0, 2).join(". "));
  const on = expect.stringMatching(/^Automatic fix of failed checks: on\. A failed check wakes .*10 times at most$/);
  await expect.poll(comments).toEqual([on]);
  await client.post("/git/shop/pulls/1/comments", { body: "@platform autofix off" });
  const off = "Automatic fix of failed checks: off. Stopped: turned off by user:1";
  await expect.poll(comments).toEqual([on, off]);
});
