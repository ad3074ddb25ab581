// Keys as users manage them: who may create, rotate and revoke which, and what is recorded about their use.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPrincipals } from "../../src/identity/principals/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { type Browser, logIn, openBrowser, type Shown, tokenIn } from "../harness/browser.ts";
import { command } from "../harness/command.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  await server.key();
  await command(server, "users", "create", "member@example.com");
});
afterAll(() => server.close());

async function loggedIn(email: string): Promise<Browser & { token: string }> {
  const { platform, url } = server;
  const browser = openBrowser(url);
  const { id } = await platform.db
    .selectFrom("users")
    .select("id")
    .where("email", "=", email)
    .executeTakeFirstOrThrow();
  await logIn(browser, await makeLoginLink(platform.db, id, url));
  return { ...browser, token: tokenIn(await browser.get("/keys")) };
}

const keyIn = ({ html }: Shown): string => /class="key">(plt_[^<]+)</.exec(html)?.[1] ?? expect.fail("no key");
const idOf = (key: string): string => key.split("_")[1] ?? "";
const statusOf = async (key: string) => (await server.call(key, "GET", "/v1/me")).status;
const row = (id: string) =>
  server.platform.db.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

test("a member creates, rotates and revokes their own keys and sees no others", async () => {
  const { form, get, token } = await loggedIn("member@example.com");
  const mine = keyIn(await form("/keys", { token, name: "laptop", days: "30", access: "read" }));
  const stored = await row(idOf(mine));
  expect(stored.scopes).toEqual(["agents:read", "repositories:read"]);
  expect(Math.round(((stored.expires_at?.getTime() ?? 0) - Date.now()) / 86_400_000)).toBe(30);
  expect((await get("/keys")).html).not.toContain(mine);
  const theirs = idOf(await server.key({ name: "of the administrator" }));
  const robot = idOf(await server.key({ name: "robot", owner: { kind: "service_account", name: "robot" } }));
  const page = await get("/keys");
  expect(page.html).toContain("laptop");
  for (const id of [theirs, robot]) {
    expect(page.html).not.toContain(id);
    for (const action of ["revoke", "rotate"])
      expect((await form(`/keys/${id}/${action}`, { token })).status).toBe(404);
  }
  const next = keyIn(await form(`/keys/${idOf(mine)}/rotate`, { token, hours: "24" }));
  expect([await statusOf(mine), await statusOf(next)]).toEqual([200, 200]);
  expect((await form(`/keys/${idOf(mine)}/revoke`, { token })).status).toBe(303);
  await expect.poll(() => statusOf(mine)).toBe(401);
  expect(await statusOf(next)).toBe(200);
});

test("an administrator creates service accounts with keys and revokes any key of the team", async () => {
  const { form, get, token } = await loggedIn("admin@localhost");
  expect((await form("/service-accounts", { token, name: "ci" })).status).toBe(303);
  const again = await form("/service-accounts", { token, name: "ci" });
  expect([again.status, again.html.includes("already")]).toEqual([400, true]);
  for (const name of ["", " ", "x".repeat(101), "\u001b[2J", "a\nb", "\u202egpj"])
    for (const at of ["/service-accounts", "/keys"])
      expect([name, (await form(at, { token, name })).status]).toEqual([name, 400]);
  const path = /action="(\/service-accounts\/[^"]+\/keys)"/.exec((await get("/service-accounts")).html)?.[1] ?? "";
  const page = await form(path, { token, name: "pipeline" });
  const key = keyIn(page);
  const known = await server.platform.principals.authenticate(`Bearer ${key}`);
  expect(known).toMatchObject({ principal: { kind: "service_account", keyName: "pipeline" } });
  const rotated = await form(`/keys/${idOf(key)}/rotate`, { token, hours: "0" });
  expect(rotated.html).toContain("Service accounts");
  await expect.poll(() => statusOf(key)).toBe(401);
  expect(await statusOf(keyIn(rotated))).toBe(200);
  const member = await server.key({ owner: { kind: "user", email: "member@example.com" } });
  const taken = await form(`/keys/${idOf(member)}/rotate`, { token, hours: "0" });
  expect([taken.status, taken.html.includes("plt_"), await statusOf(member)]).toEqual([403, false, 200]);
  expect((await get("/keys")).html).not.toContain(`/keys/${idOf(member)}/rotate`);
  expect((await form(`/keys/${idOf(member)}/revoke`, { token })).status).toBe(303);
  await expect.poll(() => statusOf(member)).toBe(401);
  const foreign = idOf(await server.key({ team: "others" }));
  expect((await form(`/keys/${foreign}/revoke`, { token })).status).toBe(404);
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
