// Who joined by a link makes something while the owner of the address proves it, or while the user is removed: nothing of it is
// the owner's afterwards.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registerWorker } from "../../src/fleet/store.ts";
import { actingForRequest } from "../../src/foundation/db/index.ts";
import { openInvitations } from "../../src/identity/invitations/index.ts";
import { openAdministration, proveAddress } from "../../src/identity/principals/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { formTokenOf } from "../../src/identity/sessions/secret.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ roles: ["api"], allowPrivate: ["127.0.0.1/32"] });
  await server.key();
});
afterAll(() => server.close());

interface Joined {
  userId: number;
  email: string;
  key: string;
  session: string;
  link: string;
}

async function joinByLink(email: string): Promise<Joined> {
  const { db, principals, sessions } = server.platform;
  const invitations = openInvitations(db, () => new Date());
  const { secret } = await invitations.invite({ teamId: 1, email, role: "member" });
  const userId = (await invitations.accept({ secret, proof: "link" })) ?? expect.fail("not joined");
  const owner = { kind: "user", email } as const;
  const { key } = await principals.createKey({ name: "own", team: "default", owner, scopes: null, expiresAt: null });
  const [session, link] = [await sessions.begin(userId, "invitation"), await makeLoginLink(db, userId, server.url)];
  return { userId, email, key, session, link };
}

const withKey =
  (method: string, path: string, body: object) =>
  ({ key }: Joined) =>
    server.call(key, method, path, body);

const attempts: [string, (joined: Joined) => Promise<{ status: number }>][] = [
  [
    "a key",
    ({ session }) =>
      fetch(`${server.url}/v1/keys`, {
        method: "POST",
        headers: {
          cookie: `platform_session=${session}`,
          "x-csrf-token": formTokenOf(session),
          "content-type": "application/json",
        },
        body: JSON.stringify({ name: "late" }),
      }),
  ],
  [
    "a session by a login link",
    ({ link }) => {
      const token = new URL(link).searchParams.get("token") ?? "";
      return fetch(`${server.url}/login`, { method: "POST", redirect: "manual", body: new URLSearchParams({ token }) });
    },
  ],
  ["a secret", withKey("PUT", "/v1/me/secrets/NODE_OPTIONS", { value: "--import=data:text/javascript,1" })],
  ["a setting", withKey("PATCH", "/v1/me/settings", { egress: { mode: "allow_all", allowlist: [] } })],
  [
    "an environment",
    withKey("POST", "/v1/environments", {
      ...{ owner: "personal", name: "ci", repos: [{ url: "https://github.com/acme/app" }] },
      environmentJson: '{"install": "npm ci"}',
    }),
  ],
  [
    "an automation",
    withKey("POST", "/v1/automations", {
      ...{ name: "late", scope: "private", prompt: { text: "Look." }, triggers: [{ type: "webhook" }] },
    }),
  ],
  [
    "an agent with a webhook",
    withKey("POST", "/v1/agents", { prompt: { text: "say hello" }, webhook: { url: "http://127.0.0.1:9/" } }),
  ],
];

/** Statements of this database that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database()`.execute(server.platform.db);
  return rows[0]?.count ?? 0;
}

/** The owner of the address proves it while an attempt waits for that. */
async function proveDuring<T>({ userId }: Joined, attempt: () => Promise<T>): Promise<T> {
  let answer: Promise<T> | undefined;
  await server.platform.db.transaction().execute(async (transaction) => {
    await sql`select from users where id = ${userId} for update`.execute(transaction);
    answer = attempt();
    await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThan(0);
    await proveAddress(transaction, userId);
  });
  return answer ?? expect.fail("not attempted");
}

test.each(attempts)("%s that is under way while the owner proves the address is refused", async (what, attempt) => {
  const joined = await joinByLink(`${what.replaceAll(" ", "-")}@example.com`);
  expect((await proveDuring(joined, () => attempt(joined))).status).toBe(401);
});

const hello = { prompt: { text: "say hello" } };

async function startAgent({ key }: Joined): Promise<{ path: string; runId: string }> {
  const { status, body } = await server.call(key, "POST", "/v1/agents", hello);
  expect(status).toBe(200);
  const { agent, run } = body as { agent: { id: string }; run: { id: string } };
  return { path: `/v1/agents/${agent.id}/runs`, runId: run.id };
}

const runOf = (id: string) =>
  server.platform.db.selectFrom("runs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

test("a run that waits, or is under way, is cancelled when the owner proves the address", async () => {
  const { db } = server.platform;
  const joined = await joinByLink("queued@example.com");
  const [waits, goesOn] = [await startAgent(joined), await startAgent(joined)];
  const other = await startAgent(await joinByLink("other@example.com"));
  await db.updateTable("runs").set({ status: "RUNNING" }).where("id", "=", goesOn.runId).execute();
  await db.transaction().execute((transaction) => proveAddress(transaction, joined.userId));
  const isCancelled = async ({ runId }: { runId: string }) => (await runOf(runId)).cancel_requested_at !== null;
  expect([await isCancelled(waits), await isCancelled(goesOn), await isCancelled(other)]).toEqual([true, true, false]);
});

test("a follow-up that is under way while the owner proves the address begins no run", async () => {
  const joined = await joinByLink("follow-up@example.com");
  const { path, runId } = await startAgent(joined);
  await server.platform.db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", runId).execute();
  const { status } = await proveDuring(joined, () => server.call(joined.key, "POST", path, hello));
  expect(status).toBe(401);
});

test("a message that is under way while the owner proves the address is added to no run", async () => {
  const joined = await joinByLink("message@example.com");
  const { path, runId } = await startAgent(joined);
  const add = () => server.call(joined.key, "POST", `${path}/${runId}/messages`, { text: "and push it to evil" });
  expect((await proveDuring(joined, add)).status).toBe(401);
});

test("a firing that is under way while the owner proves the address begins no run", async () => {
  const { db } = server.platform;
  const joined = await joinByLink("firing@example.com");
  const automation = { name: "planted", scope: "private", ...hello, triggers: [{ type: "webhook" }] };
  const { id } = (await server.call(joined.key, "POST", "/v1/automations", automation)).body as { id: string };
  const created = await server.call(joined.key, "POST", `/v1/automations/${id}/webhook-keys`, { name: "kept" });
  const { url, apiKey } = created.body as { url: string; apiKey: string };
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  await proveDuring(joined, () => fetch(url, { method: "POST", headers, body: "{}" }));
  const firings = db.selectFrom("automation_firings").select(["status", "run_id", "reason"]);
  expect(await firings.where("automation_id", "=", id).execute()).toEqual([
    { status: "failed", run_id: null, reason: expect.stringContaining("the owner of the address") },
  ]);
  expect(await db.selectFrom("runs").select("id").where("user_id", "=", joined.userId).execute()).toEqual([]);
});

test("a machine that connects while the owner proves the address takes no runs of the owner", async () => {
  const { db, nodeId } = server.platform;
  const joined = await joinByLink("machine@example.com");
  const registered = await proveDuring(joined, async () =>
    actingForRequest(60_000, async () => {
      const judged = await server.platform.principals.authenticate(`Bearer ${joined.key}`);
      if (judged.kind === "refused") throw new Error(judged.reason);
      const request = {
        linkVersion: 1,
        workerId: "m",
        name: "m",
        labels: {},
        workspaceRootPath: "/",
        version: "1",
        session: "s",
      };
      const registrant = { principal: judged.principal, nodeId, credential: "key" } as const;
      return registerWorker(db, registrant, request).catch((error: unknown) => String(error));
    }),
  );
  expect(registered).toContain("the owner of the address");
  expect(await db.selectFrom("workers").select("id").where("user_id", "=", joined.userId).execute()).toEqual([]);
});

test.each([
  ["the proof of the address", "hooked@example.com"],
  ["the removal of their user", "hired@example.com"],
])("webhooks of agents from before %s get nothing of what is done with them afterwards", async (what, email) => {
  const { db } = server.platform;
  const { key, userId } = await joinByLink(email);
  const body = { prompt: { text: "say hello" }, webhook: { url: "http://127.0.0.1:9/" } };
  expect((await server.call(key, "POST", "/v1/agents", body)).status).toBe(200);
  const webhooks = () =>
    db
      .selectFrom("webhooks")
      .innerJoin("agents", "agents.id", "webhooks.agent_id")
      .select("agent_id")
      .where("user_id", "=", userId)
      .execute();
  expect(await webhooks()).toHaveLength(1);
  await (what === "the proof of the address"
    ? db.transaction().execute((transaction) => proveAddress(transaction, userId))
    : openAdministration(db, server.platform.vault).removeUser({ email }));
  expect(await webhooks()).toEqual([]);
});

test.each([
  ["an agent with a webhook", "late-agent@example.com"],
  ["a follow-up", "late-follow-up@example.com"],
])("%s of a user who is removed before it is stored is refused", async (what, email) => {
  const { db } = server.platform;
  const joined = await joinByLink(email);
  // Not by a link alone: the owner of the address.
  await db.updateTable("users").set({ joined_by_link: false }).where("id", "=", joined.userId).execute();
  const { path, runId } = await startAgent(joined);
  await db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", runId).execute();
  const webhook = { url: "http://127.0.0.1:9/" };
  const attempt = () =>
    what === "a follow-up"
      ? server.call(joined.key, "POST", path, hello)
      : server.call(joined.key, "POST", "/v1/agents", { ...hello, webhook });
  let answer: ReturnType<typeof attempt> | undefined;
  await db.transaction().execute(async (transaction) => {
    await sql`select from users where id = ${joined.userId} for update`.execute(transaction);
    answer = attempt();
    await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThan(0);
    await transaction.updateTable("users").set({ removed_at: new Date() }).where("id", "=", joined.userId).execute();
  });
  expect(await answer).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } } });
  const runs = await db.selectFrom("runs").select("id").where("user_id", "=", joined.userId).execute();
  expect(runs).toEqual([{ id: runId }]);
});

test("a key and a session that were made while their user was being removed do not come back with the user", async () => {
  const { db, vault, principals, sessions } = server.platform;
  const { email, userId } = await joinByLink("leaver@example.com");
  const administration = openAdministration(db, vault);
  await administration.removeUser({ email });
  const owner = { kind: "user", email } as const;
  await db.updateTable("users").set({ removed_at: null }).where("id", "=", userId).execute();
  const late = await principals.createKey({ name: "late", team: "default", owner, scopes: null, expiresAt: null });
  const session = await sessions.begin(userId, "link");
  await db.updateTable("users").set({ removed_at: new Date() }).where("id", "=", userId).execute();
  await administration.createUser({ email, team: "default", role: "member" });
  expect((await server.call(late.key, "GET", "/v1/me")).status).toBe(401);
  expect(await sessions.find(session)).toBeNull();
});
