// Keys as users manage them: who may create, rotate and revoke which, and what is recorded about their use.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPrincipals } from "../../src/identity/principals/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { logIn, openBrowser, tokenIn } from "../harness/browser.ts";
import { command } from "../harness/command.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  await server.key();
  await command(server, "users", "create", "member@example.com");
});
afterAll(() => server.close());

/** The API with the session of a browser, as the web app uses it. */
async function loggedIn(email: string) {
  const { platform, url } = server;
  const browser = openBrowser(url);
  const { id } = await platform.db
    .selectFrom("users")
    .select("id")
    .where("email", "=", email)
    .executeTakeFirstOrThrow();
  await logIn(browser, await makeLoginLink(platform.db, id, url));
  const token = tokenIn(await browser.get("/keys"));
  return async (method: string, path: string, body?: object) => {
    const { status, html } = await browser.send(path, {
      method,
      headers: { "content-type": "application/json", ...(method !== "GET" && { "x-csrf-token": token }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, text: html, body: JSON.parse(html) };
  };
}

const idOf = (key: string): string => key.split("_")[1] ?? "";
const statusOf = async (key: string) => (await server.call(key, "GET", "/v1/me")).status;
const row = (id: string) =>
  server.platform.db.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const auditEntries = async () => {
  const rows = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  return rows.map(({ entry }) => JSON.parse(entry));
};

test("a member creates, rotates and revokes their own keys and sees no others", async () => {
  const ask = await loggedIn("member@example.com");
  const scopes = ["agents:read", "repositories:read"];
  const created = await ask("POST", "/v1/keys", { name: " laptop ", expiresInDays: 30, scopes });
  expect(created.status).toBe(201);
  const { id, key: mine } = created.body;
  const stored = await row(id);
  expect(stored).toMatchObject({ name: "laptop", scopes });
  expect(Math.round(((stored.expires_at?.getTime() ?? 0) - Date.now()) / 86_400_000)).toBe(30);
  expect((await auditEntries()).at(-1)).toMatchObject({
    actor: `user:${stored.user_id}`,
    action: "api_key.created",
    subject: id,
  });
  const theirs = idOf(await server.key({ name: "of the administrator" }));
  const robot = idOf(await server.key({ name: "robot", owner: { kind: "service_account", name: "robot" } }));
  const listed = await ask("GET", "/v1/keys");
  expect(listed.text).not.toContain(mine);
  expect(listed.body.items).toMatchObject([{ id, name: "laptop", owner: { type: "user", isCaller: true } }]);
  for (const other of [theirs, robot]) {
    expect((await ask("DELETE", `/v1/keys/${other}`)).status).toBe(404);
    expect((await ask("POST", `/v1/keys/${other}/rotate`, {})).status).toBe(404);
  }
  expect((await ask("POST", "/v1/keys", { name: "x", scopes: ["admin"] })).status).toBe(400);
  expect((await ask("POST", "/v1/keys", { name: "x", serviceAccountId: "x" })).status).toBe(403);
  const rotated = await ask("POST", `/v1/keys/${id}/rotate`, { overlapHours: 24 });
  expect([await statusOf(mine), await statusOf(rotated.body.key)]).toEqual([200, 200]);
  expect((await ask("DELETE", `/v1/keys/${id}`)).body).toEqual({ id });
  await expect.poll(() => statusOf(mine)).toBe(401);
  expect(await statusOf(rotated.body.key)).toBe(200);
});

test("an administrator creates service accounts with keys and revokes any key of the team", async () => {
  const ask = await loggedIn("admin@localhost");
  const account = await ask("POST", "/v1/service-accounts", { name: "ci" });
  expect([account.status, account.body.name]).toEqual([201, "ci"]);
  expect(await ask("POST", "/v1/service-accounts", { name: "ci" })).toMatchObject({
    status: 400,
    text: expect.stringContaining("already exists"),
  });
  for (const name of ["", " ", "x".repeat(101), "\u001b[2J", "a\nb", "\u202egpj", "a\0b"])
    for (const path of ["/v1/service-accounts", "/v1/keys"])
      expect([name, (await ask("POST", path, { name })).status]).toEqual([name, 400]);
  expect((await ask("POST", "/v1/keys", { name: "x", serviceAccountId: "none" })).status).toBe(404);
  const created = await ask("POST", "/v1/keys", { name: "pipeline", serviceAccountId: account.body.id });
  const known = await server.platform.principals.authenticate(`Bearer ${created.body.key}`);
  expect(known).toMatchObject({ principal: { kind: "service_account", keyName: "pipeline" } });
  const rotated = await ask("POST", `/v1/keys/${created.body.id}/rotate`, { overlapHours: 0 });
  await expect.poll(() => statusOf(created.body.key)).toBe(401);
  expect(await statusOf(rotated.body.key)).toBe(200);
  expect((await ask("POST", `/v1/keys/${created.body.id}/rotate`, {})).status).toBe(400);
  const member = await server.key({ owner: { kind: "user", email: "member@example.com" } });
  const taken = await ask("POST", `/v1/keys/${idOf(member)}/rotate`, { overlapHours: 0 });
  expect([taken.status, taken.text.includes("plt_"), await statusOf(member)]).toEqual([403, false, 200]);
  expect((await ask("DELETE", `/v1/keys/${idOf(member)}`)).status).toBe(200);
  await expect.poll(() => statusOf(member)).toBe(401);
  const foreign = idOf(await server.key({ team: "others" }));
  expect((await ask("DELETE", `/v1/keys/${foreign}`)).status).toBe(404);
});

test("a key, even of an administrator, cannot become another key; it lists and revokes", async () => {
  const key = await server.key({ name: "leaked" });
  for (const [path, body] of [
    ["/v1/keys", { name: "next" }],
    [`/v1/keys/${idOf(key)}/rotate`, {}],
  ] as const)
    expect(await server.call(key, "POST", path, body)).toMatchObject({
      status: 403,
      body: { error: { code: "key_not_supported" } },
    });
  const robot = await server.key({ name: "arm", owner: { kind: "service_account", name: "arm" } });
  const { body } = await server.call(robot, "GET", "/v1/keys");
  expect(body).toMatchObject({ items: [{ name: "arm", owner: { type: "service_account", isCaller: true } }] });
  expect((await server.call(key, "DELETE", `/v1/keys/${idOf(robot)}`)).status).toBe(200);
  await expect.poll(() => statusOf(robot)).toBe(401);
});

test("a rotated key keeps name, owner, scopes and lifetime; the former key expires after the overlap", async () => {
  const expiresAt = new Date(Date.now() + 90 * 86_400_000);
  const former = await server.key({ name: "nightly", scopes: ["agents:read"], expiresAt });
  const printed = await command(server, "keys", "rotate", former, "--overlap", "2h");
  const [before, after] = [await row(idOf(former)), await row(idOf(printed))];
  expect(after).toMatchObject({ name: "nightly", user_id: before.user_id, scopes: ["agents:read"], revoked_at: null });
  expect(after.expires_at?.getTime()).toBeGreaterThan(expiresAt.getTime() - 60_000);
  expect(before.successor_id).toBe(after.id);
  const left = (before.expires_at?.getTime() ?? 0) - Date.now();
  expect([left > 7_100_000, left <= 7_200_000]).toEqual([true, true]);
  const later = openPrincipals({ ...server.platform, now: () => new Date(Date.now() + 7_200_001) });
  expect(await later.authenticate(`Bearer ${former}`)).toMatchObject({ reason: expect.stringContaining("expired") });
  expect((await later.authenticate(`Bearer ${printed}`)).kind).toBe("known");
});

test("the overlap never extends the lifetime of a key", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const key = await server.key({ expiresAt });
  await command(server, "keys", "rotate", idOf(key), "--overlap", "30d");
  expect((await row(idOf(key))).expires_at).toEqual(expiresAt);
});

test("a key is rotated once, even by concurrent requests, and not after it has ended", async () => {
  const key = await server.key();
  const { principals } = server.platform;
  const ends = await Promise.allSettled([1, 2, 3, 4].map(() => principals.rotateKey(idOf(key), 0)));
  expect(ends.filter(({ status }) => status === "fulfilled").length).toBe(1);
  await expect(principals.rotateKey(idOf(key), 0)).rejects.toThrow("was already rotated into");
  const revoked = idOf(await server.key());
  await principals.revokeKey(revoked);
  await expect(command(server, "keys", "rotate", revoked)).rejects.toThrow("was revoked");
  await expect(command(server, "keys", "rotate", "ffffffffffff")).rejects.toThrow("There is no key");
  await expect(command(server, "keys", "rotate", idOf(key), "--overlap", "soon")).rejects.toThrow(
    "expected a duration",
  );
});

test("the last use is recorded to the minute, with one write a minute", async () => {
  let now = Date.now();
  const principals = openPrincipals({ ...server.platform, now: () => new Date(now) });
  const key = await server.key({ name: "used" });
  const used = async () => (await row(idOf(key))).last_used_at?.getTime();
  expect(await used()).toBeUndefined();
  await principals.authenticate(`Bearer ${key}`);
  const first = now;
  now += 59_000;
  await principals.authenticate(`Bearer ${key}`);
  expect(await used()).toBe(first);
  now += 1_000;
  await principals.authenticate(`Bearer ${key}`);
  expect(await used()).toBe(now);
  now += 120_000;
  await principals.authenticate(`Bearer ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`);
  expect(await used()).toBe(now - 120_000);
  expect(await command(server, "keys", "list")).toContain(`used ${new Date(now - 120_000).toISOString()}`);
});

test("rotations are in the audit log, without the new secret", async () => {
  const former = await server.key({ name: "audited" });
  const next = await command(server, "keys", "rotate", idOf(former));
  const rows = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq", "desc").execute();
  const latest = rows.slice(0, 2).map(({ entry }) => JSON.parse(entry));
  expect(latest).toMatchObject([
    { actor: "operator", action: "api_key.changed", subject: idOf(former), data: { successor_id: idOf(next) } },
    { actor: "operator", action: "api_key.created", subject: idOf(next) },
  ]);
  expect(JSON.stringify(rows)).not.toContain(next.slice(-64));
});
