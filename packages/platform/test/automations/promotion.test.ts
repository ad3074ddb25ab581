// An automation that becomes one of the team: another identity, another payer, no old keys, and entries in the audit log.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let keys: Record<"admin" | "member", string>;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  keys = {
    admin: await server.key(),
    member: await server.key({ owner: { kind: "user", email: "member@example.com" } }),
  };
});
afterAll(() => server.close());

interface Created {
  id: string;
  webhook: { url: string };
}

async function create(key: string, scope: string): Promise<Created> {
  const body = {
    name: `${scope} of ${key.slice(0, 12)}`,
    prompt: { text: "look" },
    triggers: [{ type: "webhook" }],
    scope,
  };
  const created = await server.call(key, "POST", "/v1/automations", body);
  expect(created.status).toBe(201);
  return created.body as Created;
}

const change = async (key: string, { id }: Created, scope: string) => {
  const { status, body } = await server.call(key, "PATCH", `/v1/automations/${id}`, { scope });
  return { status, ...(body as { scope?: string; ownerUserId?: number; error?: { code: string } }) };
};

const payerOf = async (firing: unknown) =>
  server.platform.db
    .selectFrom("runs")
    .leftJoin("service_accounts", "service_accounts.id", "runs.service_account_id")
    .select(["runs.user_id", "service_accounts.name"])
    .where("runs.id", "=", (firing as { runId: string }).runId)
    .executeTakeFirstOrThrow();

test("a promoted automation runs as the team's service account, and keys from before are refused", async () => {
  const automation = await create(keys.admin, "private");
  const path = `/v1/automations/${automation.id}`;
  const { apiKey } = (await server.call(keys.admin, "POST", `${path}/webhook-keys`, {})).body as { apiKey: string };
  const send = async (key: string) =>
    (await fetch(automation.webhook.url, { method: "POST", headers: { authorization: `Bearer ${key}` } })).status;
  expect(await send(apiKey)).toBe(200);
  const before = await payerOf((await server.call(keys.admin, "POST", `${path}/run`)).body);
  expect(before).toMatchObject({ user_id: expect.any(Number), name: null });
  const promoted = await change(keys.admin, automation, "team_owned");
  expect(promoted).toMatchObject({ status: 200, scope: "team_owned", webhook: { keyPrefixes: [] } });
  expect(promoted).not.toHaveProperty("ownerUserId");
  expect(await send(apiKey)).toBe(401);
  const after = await payerOf((await server.call(keys.admin, "POST", `${path}/run`)).body);
  expect(after).toEqual({ user_id: null, name: "automations" });
  const fresh = (await server.call(keys.admin, "POST", `${path}/webhook-keys`, {})).body as { apiKey: string };
  expect(await send(fresh.apiKey)).toBe(200);
  expect(await costsOf(automation)).toEqual({ "service account automations": 200, "a user": 200 });
  const { rows } = { rows: await server.platform.db.selectFrom("audit_entries").select("entry").execute() };
  const entries = rows.map(({ entry }) => entry).filter((entry) => entry.includes(automation.id));
  expect(
    entries.some((entry) => /automation\.updated|automation\.changed/.test(entry) && /team_owned/.test(entry)),
  ).toBe(true);
  expect(entries.some((entry) => /automation_webhook_key\.(?:deleted|removed)/.test(entry))).toBe(true);
  expect(await change(keys.admin, automation, "private")).toMatchObject({ status: 400 });
});

/** What the runs of an automation cost whom, in cents, where each costs a dollar. */
async function costsOf({ id }: Created): Promise<Record<string, number>> {
  const { db } = server.platform;
  const agents = db.selectFrom("automation_firings").select("agent_id").where("automation_id", "=", id);
  await db.updateTable("runs").set({ cost_usd: "1", input_tokens: 1 }).where("agent_id", "in", agents).execute();
  const { body } = await server.call(keys.admin, "GET", "/v1/usage?of=team");
  const { people } = body as unknown as { people: { id: string; costCents: number }[] };
  const spent = people.filter(({ costCents }) => costCents > 0);
  const account = await db.selectFrom("service_accounts").select("id").where("name", "=", "automations").execute();
  const nameOf = (actor: string) =>
    actor === `service_account:${account[0]?.id}`
      ? "service account automations"
      : actor.replace(/^user:\d+$/, "a user");
  return Object.fromEntries(spent.map(({ id: actor, costCents }) => [nameOf(actor), costCents]));
}

test("a private automation of a user who was removed stops, says why and since when, and its webhook says so", async () => {
  const leaver = await server.key({ owner: { kind: "user", email: "leaver@example.com" } });
  const automation = await create(leaver, "private");
  const path = `/v1/automations/${automation.id}`;
  const { apiKey } = (await server.call(leaver, "POST", `${path}/webhook-keys`, {})).body as { apiKey: string };
  const send = async () => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(automation.webhook.url, { method: "POST", headers });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  expect(await send()).toMatchObject({ status: 200, body: { success: true, runId: expect.any(String) } });
  const { items } = (await server.call(keys.admin, "GET", "/v1/members")).body as unknown as {
    items: { id: number; email: string }[];
  };
  const member = items.find(({ email }) => email === "leaver@example.com");
  expect((await server.call(keys.admin, "DELETE", `/v1/members/${member?.id}`)).status).toBe(200);
  const reason = "Its user was removed from the team, or has proved their address since it was created.";
  expect(await send()).toMatchObject({ status: 200, body: { skipped: true, reason } });
  expect(await send()).toMatchObject({ status: 400, body: { success: false } });
  const row = await server.platform.db
    .selectFrom("automations")
    .select(["enabled", "disabled_reason", "disabled_at"])
    .where("id", "=", automation.id)
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject({ enabled: false, disabled_reason: reason, disabled_at: expect.any(Date) });
  const alerts = server.platform.db.selectFrom("automation_alerts").select(["kind", "message"]);
  expect(await alerts.where("automation_id", "=", automation.id).execute()).toEqual([
    { kind: "disabled", message: `Disabled. ${reason}` },
  ]);
});

test("a member promotes nothing; an administrator promotes what the team sees, and no private one of another user", async () => {
  const [own, shown] = [await create(keys.member, "private"), await create(keys.member, "team_visible")];
  expect(await change(keys.member, own, "team_owned")).toMatchObject({ status: 403 });
  expect(await change(keys.admin, own, "team_owned")).toMatchObject({ status: 404 });
  expect(await change(keys.admin, shown, "private")).toMatchObject({ status: 403 });
  expect(await change(keys.member, shown, "private")).toMatchObject({ status: 200, scope: "private" });
  expect(await change(keys.member, shown, "team_visible")).toMatchObject({ status: 200, scope: "team_visible" });
  expect(await change(keys.admin, shown, "team_owned")).toMatchObject({ status: 200, scope: "team_owned" });
  expect(await change(keys.member, shown, "team_owned")).toMatchObject({ status: 403 });
});

test("a change by the owner that waits while the automation is promoted is refused: it is the team's by then", async () => {
  const automation = await create(keys.member, "team_visible");
  const { db } = server.platform;
  const waiting = async () => {
    const { rows } = await sql<{ count: string }>`
      select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return Number(rows[0]?.count);
  };
  let answer: Promise<{ status: number }> | undefined;
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom("automations").select("id").where("id", "=", automation.id).forUpdate().execute();
    answer = server.call(keys.member, "PATCH", `/v1/automations/${automation.id}`, { prompt: { text: "mine" } });
    await expect.poll(waiting).toBeGreaterThan(0);
    const promoted = { scope: "team_owned" as const, user_id: null, name: "promoted meanwhile" };
    await tx.updateTable("automations").set(promoted).where("id", "=", automation.id).execute();
  });
  expect(await answer).toMatchObject({ status: 403 });
  const { body } = await server.call(keys.admin, "GET", `/v1/automations/${automation.id}`);
  expect(body).toMatchObject({ prompt: { text: "look" } });
});
