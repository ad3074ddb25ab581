// Deliveries of GitHub that never came: the platform asks for them, once each.
import type { FakeGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { reconcile } from "../../src/automations/inbound/reconcile.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openScenes, type Scene, type Scenes, trigger } from "./github-scene.ts";

let fake: FakeGithub;
let scene: Scenes["scene"];

beforeAll(async () => {
  ({ fake, scene } = await openScenes());
});
afterAll(() => fake.close());

/** As the fake begins. */
const appPermissions = { contents: "write", pull_requests: "write", metadata: "read", checks: "write" };

async function addressOfAnotherTeam({ db, vault, principals }: Scene["fixture"]["platform"]): Promise<string> {
  const owner = { kind: "user", email: "eve@example.com" } as const;
  const { id } = await principals.createKey({ name: "k", team: "others", owner, scopes: null, expiresAt: null });
  const { teamId } = (await principals.find(id)) ?? expect.fail("no user");
  const { source } = await insertSource(db, { teamId, name: "others", key: await teamKey(db, vault, teamId) });
  return `http://127.0.0.1:1/events/github/${source.id}`;
}

test("a delivery that never came is found once, by asking for it, and its firing says so", async () => {
  const opened = await scene();
  const { host, hookUrl, url, shop, setClock, firings, fixture } = opened;
  const automation = await opened.create(trigger(opened, "push"));
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const sent = (id: number, more: object = {}) => ({
    ...{ id, guid: `guid-${id}`, delivered_at: "2026-03-02T07:50:00Z", event: "push", status: "Connection failed" },
    ...{ status_code: 502, redelivery: false, url: hookUrl, payload, ...more },
  });
  fake.deliveries.splice(0, fake.deliveries.length);
  // More than one page, in which all but one are for other addresses, of long ago, or still on their way.
  fake.deliveries.push(sent(1, { delivered_at: "2026-03-01T00:00:00Z" }), sent(2));
  for (let id = 3; id < 120; id += 1)
    fake.deliveries.push(sent(id, { guid: "other", url: "https://example.com/hook" }));
  fake.deliveries.push(sent(200, { delivered_at: "2026-03-02T07:59:59Z" }));
  fake.requests.length = 0;
  expect(await reconcile(host)).toBe(1);
  expect(await reconcile(host)).toBe(0);
  await processEvents(host);
  expect(await firings(automation)).toMatchObject([{ source: "github", recovered: true }]);
  const asked = fake.requests
    .map(({ operation }) => operation)
    .filter((operation) => /^apps\/.*deliver/.test(operation));
  expect(asked).toEqual([
    ...["apps/list-webhook-deliveries", "apps/list-webhook-deliveries"],
    ...["apps/get-webhook-delivery", "apps/get-webhook-delivery"],
  ]);
  // The one that was on its way came as usual; the poll after it finds nothing.
  await opened.deliver("push", payload);
  await fixture.platform.db
    .updateTable("inbound_events")
    .set({ delivery_id: "guid-200" })
    .where("via", "=", "webhook")
    .execute();
  setClock("2026-03-02T08:10:00Z");
  expect(await reconcile(host)).toBe(0);
  expect((await firings(automation)).map(({ recovered }) => recovered ?? false).toSorted()).toEqual([false, true]);
  expect(fake.violations).toEqual([]);
});

test("deliveries of a webhook of the repository that never came are found once, and those for another team are left to it", async () => {
  fake.grantApp({ ...appPermissions, repository_hooks: "read" });
  onTestFinished(() => fake.grantApp(appPermissions));
  const opened = await scene();
  const { host, hookUrl, url, shop, setClock, firings, fixture } = opened;
  const automation = await opened.create(trigger(opened, "push"));
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const sent = (id: number, to: string) => ({
    ...{ id, guid: `hook-${id}`, delivered_at: "2026-03-02T07:50:00Z", event: "push", status: "Connection failed" },
    ...{ status_code: 502, redelivery: false, url: to, payload },
  });
  const [another, elsewhere] = [await addressOfAnotherTeam(fixture.platform), "https://example.com/hook"];
  const deliveries = [sent(1, hookUrl), sent(2, another), sent(3, hookUrl)];
  shop.hooks.push({ id: 7, url: hookUrl, isActive: true, deliveries });
  shop.hooks.push({ id: 8, url: elsewhere, isActive: true, deliveries: [sent(4, elsewhere)] });
  shop.hooks.push({ id: 9, url: another, isActive: true, deliveries: [sent(6, another)] });
  fake.deliveries.splice(0, fake.deliveries.length);
  expect(await reconcile(host)).toBe(2);
  expect(fake.requests.filter(({ path }) => path.includes("/hooks/9/"))).toEqual([]);
  expect(await reconcile(host)).toBe(0);
  await processEvents(host);
  expect(await firings(automation)).toMatchObject([{ recovered: true }, { recovered: true }]);
  setClock("2026-03-02T08:10:00Z");
  deliveries.push({ ...sent(5, hookUrl), delivered_at: "2026-03-02T08:05:00Z" });
  expect(await reconcile(host)).toBe(1);
  // No token that reads files reads webhooks: agents on machines of customers may have the former.
  const kinds = fake.grants.map(
    ({ permissions }) => `${"contents" in permissions}, ${"repository_hooks" in permissions}`,
  );
  expect(kinds).toContain("false, true");
  expect(kinds).not.toContain("true, true");
  expect(fake.violations).toEqual([]);
});

test("webhooks of a repository that the app may not read are looked at again in an hour, and the reason is kept", async () => {
  const opened = await scene();
  const { host, fixture, url } = opened;
  await opened.create(trigger(opened, "push"));
  fake.deliveries.splice(0, fake.deliveries.length);
  expect(await reconcile(host)).toBe(0);
  const polls = fixture.platform.db.selectFrom("delivery_polls").selectAll().where("connection", "like", "github %");
  expect(await polls.execute()).toMatchObject([
    {
      ...{ connection: expect.stringContaining(url), next_at: new Date("2026-03-02T09:00:00Z"), seen_until: null },
      failure: expect.stringContaining("which needs the permission to read webhooks"),
    },
  ]);
});

test("webhooks that GitHub fails to list are looked at again at the usual time", async () => {
  const opened = await scene();
  await opened.create(trigger(opened, "push"));
  const planned = { operation: "repos/list-webhooks", response: { status: 502, body: { message: "no" } } };
  for (let attempt = 0; attempt < 3; attempt += 1) fake.planResponse(planned);
  await reconcile(opened.host);
  const polls = opened.fixture.platform.db.selectFrom("delivery_polls").selectAll();
  expect(await polls.where("connection", "like", "github %").execute()).toMatchObject([
    { next_at: new Date("2026-03-02T08:02:30Z"), failure: expect.stringContaining("GitHub is failing") },
  ]);
});

test("a delivery that cannot be read delays no later one, and is named in the failure", async () => {
  const opened = await scene();
  const { host, hookUrl, url, shop, fixture } = opened;
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const shared = { event: "push", status: "Connection failed", status_code: 502, redelivery: false };
  fake.deliveries.splice(0, fake.deliveries.length);
  for (const id of [1, 2])
    fake.deliveries.push({
      ...{ ...shared, id, guid: `unread-${id}`, delivered_at: `2026-03-02T07:5${id}:00Z`, url: hookUrl, payload },
    });
  const response = { status: 404, body: { message: "Not Found" } };
  fake.planResponse({ operation: "apps/get-webhook-delivery", response });
  expect(await reconcile(host)).toBe(1);
  expect(await fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow()).toMatchObject({
    ...{ seen_until: new Date("2026-03-02T07:59:00Z"), failure: expect.stringContaining("unread-1") },
  });
});

test("a list of deliveries that was cut says since when some are missing", async () => {
  const { host, fixture } = await scene();
  const deliveredAt = new Date("2026-03-02T07:55:00Z");
  const deliveries = [{ id: 1, guid: "cut-1", event: "push", deliveredAt }];
  const read = async () => ({ url: "https://example.com/hook", payload: {} });
  await reconcile({ ...host, hookDeliveries: { list: async () => ({ deliveries, isCut: true }), read } });
  const { failure } = await fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow();
  expect(failure).toMatch(/since 2026-03-02T06:50:00.000Z: those before 2026-03-02T07:55:00.000Z were not looked at/);
});

test("a host that does not list deliveries is asked again, and the reason is kept", async () => {
  const { host, fixture, setClock } = await scene();
  fake.planResponse({ operation: "apps/list-webhook-deliveries", response: { status: 403, body: { message: "no" } } });
  expect(await reconcile(host)).toBe(0);
  const poll = () => fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow();
  expect(await poll()).toMatchObject({ seen_until: null, failure: expect.stringContaining("list the deliveries") });
  setClock("2026-03-02T08:10:00Z");
  await reconcile(host);
  expect(await poll()).toMatchObject({ failure: null, seen_until: new Date("2026-03-02T08:09:00Z") });
});
