// How many events and sources of events a team may have, and what is kept of an event that starts nothing.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { readGithubEvent } from "../../src/automations/inbound/github.ts";
import { inboundRetention } from "../../src/automations/inbound/retention.ts";
import {
  type EventSourceRow,
  insertSource,
  maxSourcesPerTeam,
  rememberFork,
} from "../../src/automations/inbound/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openFixture } from "../harness/fixture.ts";
import { testServer } from "../harness/platform.ts";

interface Created {
  id: string;
  url: string;
  secret: string;
}

const send = async ({ url, secret }: Created, deliveryId: string, body: string) => {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = { "x-hub-signature-256": signature, "x-github-event": "push", "x-github-delivery": deliveryId };
  const answer = await fetch(url, { method: "POST", body, headers });
  return { status: answer.status, body: (await answer.json()) as unknown };
};
const bodyOf = (kilobytes: number) => JSON.stringify({ text: "x".repeat(kilobytes * 1024) });
const limited = { models: { model: "practice", limits: { events: "64k" } } };

test("events of a team beyond its limit are refused, whichever source they come to; what was stored stays", async () => {
  const server = await testServer({ roles: ["api"], ...limited });
  try {
    const admin = await server.key();
    const create = async (key: string, name: string) =>
      (await server.call(key, "POST", "/v1/event-sources", { type: "github", name })).body as unknown as Created;
    const [one, two] = [await create(admin, "one"), await create(admin, "two")];
    expect((await send(one, "d-1", bodyOf(30))).status).toBe(202);
    expect((await send(two, "d-2", bodyOf(20))).status).toBe(202);
    const refused = await send(two, "d-3", bodyOf(20));
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: "event_limit_reached" } });
    expect((refused.body as { error: { message: string } }).error.message).toMatch(
      /65536 bytes of events \(limits\.events\)/,
    );
    const again = { status: 202, body: { received: true, duplicate: true } };
    expect(await send(one, "d-1", bodyOf(30))).toEqual(again);
    const stranger = await create(await server.key({ team: "strangers" }), "theirs");
    expect((await send(stranger, "d-1", bodyOf(30))).status).toBe(202);
    expect((await server.call(admin, "DELETE", `/v1/event-sources/${one.id}`)).status).toBe(200);
    expect((await send(two, "d-3", bodyOf(20))).status).toBe(202);
  } finally {
    await server.close();
  }
});

test("events that come at once do not pass the limit together, and those that retention removes count no more", async () => {
  const fixture = await openFixture();
  try {
    const { platform, principal } = fixture;
    const { db, vault } = platform;
    const { teamId } = principal;
    const key = await teamKey(db, vault, teamId);
    const sources: EventSourceRow[] = [];
    for (const name of ["one", "two", "three"]) sources.push((await insertSource(db, { teamId, name, key })).source);
    const store = (source: EventSourceRow, deliveryId: string) =>
      storeDelivery(db, { source, deliveryId, name: "push", body: Buffer.alloc(9_000), key }, 64 * 1024);
    const all = sources.flatMap((source) => Array.from({ length: 5 }, (_, index) => store(source, `d-${index}`)));
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
    await db
      .updateTable("inbound_events")
      .set({ status: "processed", created_at: new Date(Date.now() - 31 * 86_400_000) })
      .execute();
    for (const rule of inboundRetention(db)) for await (const _count of rule.remove());
    const rows = await db.selectFrom("event_sources").select("stored_bytes").execute();
    expect(rows.map(({ stored_bytes }) => stored_bytes)).toEqual([0, 0, 0]);
    expect(await store(sources[0] as EventSourceRow, "d-9")).toBe(true);
  } finally {
    await fixture.close();
  }
});

test("a team has so many event sources, and the next one is refused until one is removed", async () => {
  const server = await testServer({ roles: ["api"] });
  try {
    const admin = await server.key();
    const create = () => server.call(admin, "POST", "/v1/event-sources", { type: "github", name: "shop" });
    const created = [((await create()).body as { id: string }).id];
    const { db, vault } = server.platform;
    const key = await teamKey(db, vault, 1);
    for (let count = 1; count < maxSourcesPerTeam; count += 1) await insertSource(db, { teamId: 1, name: "shop", key });
    expect(await create()).toMatchObject({ status: 409, body: { error: { code: "event_source_limit_reached" } } });
    expect((await server.call(admin, "DELETE", `/v1/event-sources/${created[0]}`)).status).toBe(200);
    expect((await create()).status).toBe(201);
  } finally {
    await server.close();
  }
});

test("of the pull requests of a source the newest are remembered", async () => {
  const fixture = await openFixture();
  try {
    const { platform, principal } = fixture;
    const { db, vault } = platform;
    const { teamId } = principal;
    const key = await teamKey(db, vault, teamId);
    const { source } = await insertSource(db, { teamId, name: "one", key });
    const urls = Array.from({ length: 10_050 }, (_, number) => `https://github.com/acme/shop/pull/${number}`);
    for (let from = 0; from < urls.length; from += 2_000)
      await db
        .insertInto("inbound_pull_requests")
        .values(
          urls
            .slice(from, from + 2_000)
            .map((url, index) => ({ source_id: source.id, url, is_fork: true, seen_at: new Date(from + index) })),
        )
        .execute();
    const [event] = readGithubEvent("pull_request", {
      action: "opened",
      repository: { id: 1, html_url: "https://github.com/acme/shop" },
      pull_request: { number: 0, html_url: urls[0], head: { repo: { id: 1 } }, base: { repo: { id: 1 } } },
    });
    if (event === undefined) return expect.fail("no event");
    await rememberFork(db, source.id, event);
    for (const rule of inboundRetention(db)) for await (const _count of rule.remove());
    const left = await db.selectFrom("inbound_pull_requests").select("url").execute();
    expect(left).toHaveLength(10_000);
    expect(left.map(({ url }) => url)).toContain(urls[0]);
    expect(left.map(({ url }) => url)).not.toContain(urls[1]);
  } finally {
    await fixture.close();
  }
});
