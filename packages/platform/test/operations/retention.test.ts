// Retention of rows: what is due is removed, what is still needed stays, and one server removes at a time.
import { randomUUID } from "node:crypto";
import { temporaryDirectory } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { once } from "../../src/agents/submit/idempotency.ts";
import { idempotencyRetention } from "../../src/agents/submit/index.ts";
import { automationRetention } from "../../src/automations/retention.ts";
import { poolRetention, workerRetention } from "../../src/fleet/retention.ts";
import type { Activity, RetentionRule } from "../../src/foundation/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { invitationRetention, openInvitations } from "../../src/identity/invitations/index.ts";
import { makeLoginLink, sessionRetention, useLoginLink } from "../../src/identity/sessions/index.ts";
import { deliveryRetention } from "../../src/integrations/webhooks/index.ts";
import { openRetention, startRetention } from "../../src/operations/retention/index.ts";
import { frameRetention } from "../../src/runs/streams/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { testServer } from "../harness/platform.ts";
import { testSettings } from "../harness/settings.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

async function apply(rule: RetentionRule): Promise<number> {
  let removed = 0;
  for await (const count of rule.remove()) removed += count;
  return removed;
}

const hour = 3_600_000;
const ago = (ms: number): Date => new Date(Date.now() - ms);

/** With frames, and ended at this time; null: still active. */
async function runWithFrames(endedAt: Date | null, frames: number): Promise<string> {
  const { db } = fixture.platform;
  const { runId } = await fixture.newAgent();
  await sql`
    insert into frames (run_id, seq, event_id, event, data, at)
    select ${runId}, seq, '1-' || seq, 'assistant', '\\x00', now() - interval '1 year'
    from generate_series(1, ${frames}::integer) as seq
  `.execute(db);
  if (endedAt)
    await db.updateTable("runs").set({ status: "FINISHED", ended_at: endedAt }).where("id", "=", runId).execute();
  return runId;
}

async function framesOf(runId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from frames where run_id = ${runId}`.execute(
    fixture.platform.db,
  );
  return rows[0]?.count ?? 0;
}

test("frames are removed after the retention of streams and an hour for those who still read, and not before", async () => {
  const retentionSeconds = 7_200;
  const due = await runWithFrames(ago(3 * hour + 60_000), 2_500);
  const empty = await runWithFrames(ago(400 * 24 * hour), 0);
  const beingRead = await runWithFrames(ago(3 * hour - 60_000), 5);
  const active = await runWithFrames(null, 5);
  await apply(frameRetention(fixture.platform.db, retentionSeconds));
  expect(await Promise.all([due, empty, beingRead, active].map(framesOf))).toEqual([0, 0, 5, 5]);
  const marked = await fixture.platform.db
    .selectFrom("runs")
    .select("id")
    .where("stream_removed_at", "is not", null)
    .execute();
  expect(marked.map(({ id }) => id).sort()).toEqual([due, empty].sort());
  expect(await apply(frameRetention(fixture.platform.db, retentionSeconds))).toBe(0);
});

test("a run that another transaction has locked is left for the next round, without waiting for it", async () => {
  const runId = await runWithFrames(ago(48 * hour), 3);
  const { db } = fixture.platform;
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom("runs").select("id").where("id", "=", runId).forUpdate().execute();
    await apply(frameRetention(db, 60));
    expect(await framesOf(runId)).toBe(3);
  });
  await apply(frameRetention(db, 60));
  expect(await framesOf(runId)).toBe(0);
});

test("an idempotent answer is given for its hours and removed afterwards", async () => {
  const { platform, principal } = fixture;
  const created = { agentId: "", runId: "" };
  const ask = (key: string) =>
    once(platform, { principal, idempotencyKey: { key, hash: Buffer.from(key) } }, async () =>
      Object.assign({}, created, await fixture.newAgent()),
    );
  const [young, old] = [await ask("young"), await ask("old")];
  const age = (key: string, minutes: number) =>
    sql`update idempotent_answers set created_at = now() - ${minutes} * interval '1 minute' where key = ${key}`.execute(
      platform.db,
    );
  await age("young", 24 * 60 - 1);
  await age("old", 24 * 60 + 1);
  expect(await apply(idempotencyRetention(platform.db, 24))).toBe(1);
  expect(await ask("young")).toEqual({ ...young, replayed: true });
  expect(await ask("old")).toMatchObject({ replayed: false, agentId: expect.not.stringContaining(old.agentId) });
});

test("sessions and login links are removed a while after their end, and not while they can be used", async () => {
  const { db, sessions } = fixture.platform;
  const { id: userId } = await db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const secret = await sessions.begin(userId, "link");
  const link = await makeLoginLink(db, userId, "http://platform");
  const gone: string[] = [];
  const kept: string[] = [];
  for (const [list, days] of [
    [gone, 31],
    [kept, 29],
  ] as const)
    for (let count = 0; count < 25; count += 1) {
      const id = randomUUID();
      list.push(id);
      const row = { id, user_id: userId, hash: Buffer.from(id), expires_at: ago(days * 24 * hour) };
      await db
        .insertInto("sessions")
        .values({ ...row, method: "link" })
        .execute();
      await db.insertInto("login_links").values(row).execute();
    }
  for (const rule of sessionRetention(db, 30)) expect(await apply(rule), rule.name).toBe(gone.length);
  for (const table of ["sessions", "login_links"] as const) {
    const left = (await db.selectFrom(table).select("id").execute()).map(({ id }) => id);
    expect(left).toEqual(expect.arrayContaining(kept));
    expect(left.filter((id) => gone.includes(id))).toEqual([]);
  }
  expect(await sessions.find(secret)).not.toBeNull();
  expect(await useLoginLink(db, new URL(link).searchParams.get("token") ?? "")).toMatchObject({ userId });
});

interface StoredDelivery {
  status: "waiting" | "delivered" | "dead";
  createdDays: number;
  attemptDays: number;
  response: number;
}

async function storeDelivery(agentId: string, runId: string, stored: StoredDelivery): Promise<string> {
  const { db } = fixture.platform;
  const id = `wh_${randomUUID()}`;
  const created_at = ago(stored.createdDays * 24 * hour);
  const next_attempt_at = stored.status === "waiting" ? created_at : null;
  await db
    .insertInto("webhook_deliveries")
    .values({ id, agent_id: agentId, run_id: runId, status: stored.status, created_at, next_attempt_at, attempts: 1 })
    .execute();
  const attempt = { delivery_id: id, number: 1, duration_ms: 5, outcome: "refused" as const };
  await db
    .insertInto("webhook_attempts")
    .values({ ...attempt, started_at: ago(stored.attemptDays * 24 * hour), response_status: stored.response })
    .execute();
  return id;
}

test("ended deliveries are removed after their last attempt; those to be sent, and the last 410, stay", async () => {
  const { db } = fixture.platform;
  const cases: [string, StoredDelivery, "stays" | "goes"][] = [
    ["delivered long ago", { status: "delivered", createdDays: 40, attemptDays: 31, response: 200 }, "goes"],
    ["dead since long ago", { status: "dead", createdDays: 40, attemptDays: 31, response: 500 }, "goes"],
    ["delivered again lately", { status: "delivered", createdDays: 40, attemptDays: 29, response: 200 }, "stays"],
    ["delivered lately", { status: "delivered", createdDays: 29, attemptDays: 29, response: 200 }, "stays"],
    ["still to be sent", { status: "waiting", createdDays: 40, attemptDays: 39, response: 500 }, "stays"],
    ["not wanted any more", { status: "dead", createdDays: 40, attemptDays: 39, response: 410 }, "stays"],
  ];
  const ids = new Map<string, string>();
  for (const [name, stored] of cases) {
    const { agentId, runId } = await fixture.newAgent();
    await db
      .insertInto("webhooks")
      .values({ agent_id: agentId, version: "v1", url: Buffer.from("sealed"), secret: null })
      .execute();
    ids.set(await storeDelivery(agentId, runId, stored), name);
  }
  await apply(deliveryRetention(db, 30));
  const left = await db.selectFrom("webhook_deliveries").select("id").execute();
  const expected = cases.flatMap(([name, , fate]) => (fate === "stays" ? name : []));
  expect(left.map(({ id }) => ids.get(id)).sort()).toEqual(expected.sort());
  expect(await db.selectFrom("webhook_attempts").select("delivery_id").execute()).toHaveLength(expected.length);
});

test("of several servers one applies the rules at a time, and a rule that fails does not stop the others", async () => {
  const { platform } = fixture;
  const settings = { ...platform.settings, retention: { ...platform.settings.retention, intervalSeconds: 0.001 } };
  const rounds = [0, 0];
  const failures: unknown[] = [];
  const log = { ...silentLog, error: (event: string, error: unknown) => void failures.push([event, String(error)]) };
  let active = 0;
  let most = 0;
  const broken: RetentionRule = {
    name: "broken",
    // biome-ignore lint/correctness/useYield: it fails before its first batch.
    async *remove() {
      throw new Error("cannot be removed");
    },
  };
  const counting = (server: number): RetentionRule => ({
    name: "counted",
    async *remove() {
      active += 1;
      most = Math.max(most, active);
      try {
        yield 1;
        yield 1;
        rounds[server] = (rounds[server] ?? 0) + 1;
      } finally {
        active -= 1;
      }
    },
  });
  const servers = rounds.map((_, server) => startRetention({ ...platform, settings, log }, [broken, counting(server)]));
  await expect.poll(() => Math.min(...rounds)).toBeGreaterThan(2);
  await Promise.all(servers.map((server) => server.stop()));
  expect(most).toBe(1);
  expect(failures).toContainEqual(["retention.failed", "Error: cannot be removed"]);
  expect(await platform.metrics.text()).toContain('platform_retention_removed_total{kind="counted"}');
});

test("what is in a data directory is removed by a server that has it, whatever its roles", async () => {
  const { platform } = fixture;
  const arrived: string[] = [];
  let bothArrived = () => {};
  const both = new Promise<void>((resolve) => {
    bothArrived = resolve;
  });
  const servers: Activity[] = [];
  for (const name of ["first", "second"]) {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const settings = { ...platform.settings, dataDirectory: directory.path };
    const local: RetentionRule = {
      name: "files of the server",
      in: "data directory",
      async *remove() {
        arrived.push(name);
        if (arrived.length === 2) bothArrived();
        await both;
        yield 1;
      },
    };
    const inDatabase: RetentionRule = {
      name: "rows",
      async *remove() {
        arrived.push(`rows by ${name}`);
        yield 1;
      },
    };
    const { activities = [] } = openRetention({ ...platform, settings, log: silentLog }, [local, inDatabase]);
    for (const { role, start } of activities) if (role === "every server") servers.push(await start());
  }
  await both;
  await Promise.all(servers.map((server) => server.stop()));
  expect(arrived.sort()).toEqual(["first", "second"]);
});

const dayMs = 24 * hour;

async function storeAutomation(): Promise<string> {
  const { platform, principal } = fixture;
  const id = `auto-${randomUUID()}`;
  await platform.db
    .insertInto("automations")
    .values({
      ...{ id, team_id: principal.teamId, user_id: null, scope: "team_owned", name: id, missed: "skip", enabled: true },
      definition: Buffer.from("sealed"),
    })
    .execute();
  return id;
}

test("firings go 90 days after they were decided, and alerts with them; what is planned stays, and alerts about it", async () => {
  const { db } = fixture.platform;
  const automationId = await storeAutomation();
  const cases = [
    ["started long ago", "started", 91, 91],
    ["missed long ago", "missed", 91, 91],
    ["started lately", "started", 89, 89],
    ["decided lately, planned long ago", "skipped", 100, 1],
    ["overdue for long", "planned", 100, null],
    ["disabled long ago, planned for next year", "skipped", -200, 91],
  ] as const;
  for (const [name, status, plannedDays, decidedDays] of cases) {
    const id = `fire-${name}`;
    await db
      .insertInto("automation_firings")
      .values({
        ...{ id, automation_id: automationId, source: "webhook", trigger_id: null, status, dedupe_key: null },
        ...{ planned_at: ago(plannedDays * dayMs), decided_at: decidedDays && ago(decidedDays * dayMs) },
        ...{ agent_id: `bc-${randomUUID()}`, payload: Buffer.from("sealed") },
      })
      .execute();
    const alert = { id: `alert-${name}`, automation_id: automationId, firing_id: id, message: name };
    await db
      .insertInto("automation_alerts")
      .values({ ...alert, kind: "overdue", created_at: ago((decidedDays ?? plannedDays) * dayMs) })
      .execute();
  }
  const named = { automation_id: automationId, firing_id: null, kind: "disabled" as const, message: "Disabled." };
  await db
    .insertInto("automation_alerts")
    .values({ ...named, id: "alert-disabled", created_at: ago(91 * dayMs) })
    .execute();
  for (const rule of automationRetention(db, 90)) await apply(rule);
  const left = async (table: "automation_firings" | "automation_alerts") =>
    (await db.selectFrom(table).select("id").orderBy("id").execute()).map(({ id }) => id.replace(/^\w+-/, ""));
  const lately = ["decided lately, planned long ago", "overdue for long", "started lately"];
  expect(await left("automation_firings")).toEqual([...lately, "disabled long ago, planned for next year"].sort());
  expect(await left("automation_alerts")).toEqual(lately);
});

test("a worker that was not seen for 30 days is forgotten, with its claims, unless a run waits for it", async () => {
  const { platform, principal } = fixture;
  const { db } = platform;
  const { teamId: team_id } = principal;
  const agents = new Map<string, string>();
  for (const [id, days, status] of [
    ["gone", 31, "FINISHED"],
    ["away", 29, "FINISHED"],
    ["awaited", 31, "RUNNING"],
  ] as const) {
    const facts = { name: id, pool: "default", labels: "{}", root_path: "/", version: "1", session: id };
    const seen = { node_id: id === "gone" ? "node-of-a-crashed-server" : null, connected_at: ago(days * dayMs) };
    await db
      .insertInto("workers")
      .values({
        ...{ team_id, id, user_id: null, service_account_id: null, repo_url: null, ...facts, ...seen },
        last_seen_at: ago(days * dayMs),
      })
      .execute();
    const { agentId, runId } = await fixture.newAgent();
    agents.set(agentId, id);
    await db.updateTable("runs").set({ status }).where("id", "=", runId).execute();
    await db
      .insertInto("worker_claims")
      .values({ agent_id: agentId, team_id, worker_id: id, is_exclusive: true })
      .execute();
  }
  expect(await apply(workerRetention(db, 30))).toBe(1);
  const left = await db.selectFrom("workers").select("id").orderBy("id").execute();
  expect(left.map(({ id }) => id)).toEqual(["awaited", "away"]);
  const claims = await db.selectFrom("worker_claims").select("agent_id").execute();
  expect(claims.map(({ agent_id }) => agents.get(agent_id)).sort()).toEqual(["awaited", "away"]);
});

test("a pool that was not registered is forgotten 30 days after its last worker", async () => {
  const { platform, principal } = fixture;
  const { db } = platform;
  const { teamId: team_id } = principal;
  const pool = { team_id, service_account_id: null, repo_owner: "", repo_name: "" };
  for (const [name, days, is_registered] of [
    ["unused", 31, false],
    ["lately", 29, false],
    ["registered", 31, true],
    ["used", 31, false],
  ] as const)
    await db
      .insertInto("worker_pools")
      .values({ ...pool, name, is_registered, last_seen_at: ago(days * dayMs) })
      .execute();
  const facts = { name: "w", pool: "used", labels: "{}", root_path: "/", version: "1", session: "s", repo_url: null };
  await db
    .insertInto("workers")
    .values({
      ...{ team_id, id: "of-used", user_id: null, service_account_id: null, node_id: null, ...facts },
      ...{ connected_at: ago(31 * dayMs), last_seen_at: ago(dayMs) },
    })
    .execute();
  expect(await apply(poolRetention(db, 30))).toBe(1);
  const left = await db.selectFrom("worker_pools").select("name").orderBy("name").execute();
  expect(left.map(({ name }) => name)).toEqual(["lately", "registered", "used"]);
});

test("invitations are removed 30 days after they expired, and not while they can be accepted", async () => {
  const { platform, principal } = fixture;
  const invitations = openInvitations(platform.db, () => new Date());
  const invite = (email: string) => invitations.invite({ teamId: principal.teamId, email, role: "member" });
  const pending = await invite("pending@example.com");
  for (const [email, days] of [
    ["long@example.com", 31],
    ["lately@example.com", 29],
  ] as const) {
    const { id } = await invite(email);
    const expires_at = ago(days * dayMs);
    await platform.db.updateTable("invitations").set({ expires_at }).where("id", "=", id).execute();
  }
  expect(await apply(invitationRetention(platform.db, 30))).toBe(1);
  const left = await platform.db.selectFrom("invitations").select("email").orderBy("email").execute();
  expect(left.map(({ email }) => email)).toEqual(["lately@example.com", "pending@example.com"]);
  expect(await invitations.find(pending.secret)).toMatchObject({ email: "pending@example.com" });
});

interface Created {
  agent: { id: string };
  run: { id: string };
}

test("a server removes the stream of an ended run by itself; the conversation can still be read, also when archived", async () => {
  const retention = { ...testSettings("").retention, intervalSeconds: 1 };
  const server = await testServer({ retention });
  try {
    const key = await server.key();
    const created = (await server.call(key, "POST", "/v1/agents", { prompt: { text: "What can you do?" } })).body;
    const { agent, run } = created as Created;
    const path = `/v1/agents/${agent.id}`;
    const read = async (below: string) => (await server.call(key, "GET", `${path}${below}`)).body;
    await expect.poll(() => read(`/runs/${run.id}`)).toMatchObject({ status: "FINISHED" });
    const { result } = (await read(`/runs/${run.id}`)) as { result: string };
    const conversation = await read("/conversation");
    const common = { id: expect.any(String), runId: run.id, createdAt: expect.stringMatching(/Z$/) };
    expect(conversation).toEqual({
      id: agent.id,
      messages: [
        { ...common, type: "user_message", text: "What can you do?" },
        { ...common, type: "assistant_message", text: result },
      ],
    });
    const { db } = server.platform;
    const frames = () => db.selectFrom("frames").select("seq").where("run_id", "=", run.id).execute();
    expect(await frames()).not.toEqual([]);
    await db
      .updateTable("runs")
      .set({ ended_at: ago(48 * hour) })
      .where("id", "=", run.id)
      .execute();
    await expect.poll(frames).toEqual([]);
    const stream = await server.call(key, "GET", `${path}/runs/${run.id}/stream`);
    expect(stream).toMatchObject({ status: 410, body: { error: { code: "stream_expired" } } });
    await server.call(key, "POST", `${path}/archive`);
    expect(await read("/conversation")).toEqual(conversation);
    expect(await read(`/runs/${run.id}`)).toMatchObject({ status: "FINISHED", result });
  } finally {
    await server.close();
  }
});
