// Sessions: how a browser logs in, what it may do then, and how the session ends.

import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openAdministration, scopes } from "../../src/identity/principals/index.ts";
import { makeLoginLink, openSessions } from "../../src/identity/sessions/index.ts";
import { loginLink } from "../../src/pages/index.ts";
import { openGitHost } from "../../src/repositories/githost/index.ts";
import { type Browser, logIn, openBrowser, type Shown, tokenIn } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { testSigner } from "../harness/signer.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
const hour = 3_600_000;

async function loggedIn(email?: string): Promise<Browser & { token: string }> {
  const { platform, url } = server;
  const browser = openBrowser(url);
  const link =
    email === undefined ? loginLink(platform, url) : makeLoginLink(platform.db, (await userOf(email)).id, url);
  await logIn(browser, await link);
  return { ...browser, token: tokenIn(await browser.get("/agents")) };
}

const userOf = (email: string) =>
  server.platform.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirstOrThrow();

async function member(email: string): Promise<string> {
  const { db, vault } = server.platform;
  await openAdministration(db, vault).createUser({ email, team: "default", role: "member" });
  return email;
}

const auditHead = async () =>
  (await server.platform.db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq;

const errorOf = (html: string) => JSON.parse(html).error as { code: string; message: string };

test("of two browsers that use a link concurrently, one is logged in", async () => {
  for (let round = 0; round < 5; round++) {
    const link = await loginLink(server.platform, server.url);
    const pages = await Promise.all([1, 2, 3, 4].map(() => openBrowser(server.url).get(link)));
    const press = (page: Shown) => openBrowser(server.url).form("/login", { token: tokenIn(page) });
    const answers = await Promise.all(pages.map(press));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401]);
  }
});

test.each([
  [null, "admin@localhost"],
  ["ada@example.com", "ada@example.com"],
])("the first link of an empty platform, for %s, logs in its administrator", async (named, email) => {
  const empty = await testServer({ roles: ["api"] });
  onTestFinished(empty.close);
  const browser = openBrowser(empty.url);
  await logIn(browser, await loginLink(empty.platform, empty.url, named));
  expect(JSON.parse((await browser.get("/v1/me")).html)).toMatchObject({ userEmail: email });
  expect((await browser.get("/members")).html).toContain(email);
  const other = loginLink(empty.platform, empty.url, "mallory@example.com");
  await expect(other).rejects.toThrow("There is no user mallory@example.com");
});

test("a link works once, and an expired link does not work", async () => {
  const link = await loginLink(server.platform, server.url);
  expect((await logIn(openBrowser(server.url), link)).status).toBe(303);
  expect((await openBrowser(server.url).get(link)).status).toBe(401);
  const old = await loginLink(server.platform, server.url);
  await server.platform.db.updateTable("login_links").set({ expires_at: new Date() }).execute();
  expect((await openBrowser(server.url).get(old)).status).toBe(401);
});

test("a program that only opens a link does not use it up", async () => {
  const link = await loginLink(server.platform, server.url);
  const before = await auditHead();
  const requests: RequestInit[] = [{}, { method: "HEAD" }, { headers: { "sec-purpose": "prefetch;prerender" } }];
  for (const request of requests) {
    const answer = await fetch(link, { redirect: "manual", ...request });
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, null]);
    expect(await answer.text()).toContain(request.method === "HEAD" ? "" : "Log in as admin@localhost");
  }
  expect(await auditHead()).toBe(before);
  expect((await logIn(openBrowser(server.url), link)).location).toBe("/agents");
});

test("no other site can log a browser in", async () => {
  const link = await loginLink(server.platform, server.url);
  const token = new URL(link).searchParams.get("token") ?? "";
  const browser = openBrowser(server.url);
  const elsewhere: Record<string, string>[] = [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }];
  for (const headers of elsewhere) expect((await browser.form("/login", { token }, headers)).status).toBe(403);
  expect(browser.cookie()).toBe("");
  const own = { origin: server.url, "sec-fetch-site": "same-origin" };
  expect((await browser.form("/login", { token }, own)).status).toBe(303);
});

test("a form is limited in size, and text the database cannot store is refused", async () => {
  const huge = { token: "x".repeat(1024 * 1024) };
  for (const path of ["/login", "/join"]) expect((await openBrowser(server.url).form(path, huge)).status).toBe(413);
  const { form, token } = await loggedIn();
  expect((await form("/logout", { token, name: "a\0b" })).status).toBe(400);
});

test("neither the link nor the cookie is in the database", async () => {
  const link = await loginLink(server.platform, server.url);
  const browser = openBrowser(server.url);
  await logIn(browser, link);
  const { db } = server.platform;
  const stored = JSON.stringify([
    await db.selectFrom("sessions").selectAll().execute(),
    await db.selectFrom("login_links").selectAll().execute(),
    await db.selectFrom("audit_entries").select("entry").execute(),
  ]);
  expect(stored).not.toContain(new URL(link).searchParams.get("token"));
  expect(stored).not.toContain(browser.cookie().split("=")[1]);
});

test("after logout the former cookie is refused", async () => {
  const browser = await loggedIn();
  const cookie = browser.cookie();
  await browser.form("/logout", { token: browser.token });
  expect(browser.cookie()).toBe("");
  for (const path of ["/agents", "/v1/me"]) expect((await browser.get(path, { cookie })).status).toBe(401);
});

test("a user who logs in again has one session, not two", async () => {
  const browser = await loggedIn();
  const before = browser.cookie();
  await logIn(browser, await loginLink(server.platform, server.url));
  expect((await browser.get("/agents")).status).toBe(200);
  expect((await browser.get("/agents", { cookie: before })).status).toBe(401);
});

test("over https the cookie is bound to the host and never sent unencrypted", async () => {
  const { platform, url } = server;
  const secured = await testServer({ roles: ["api"], publicUrl: "https://platform.example" });
  try {
    await secured.key();
    const browser = openBrowser(`${secured.platform.settings.publicUrl}`);
    const local = await readAddress(secured);
    const link = await loginLink(secured.platform, local);
    const entered = await logIn(browser, link);
    expect(entered.headers.get("set-cookie")).toMatch(
      /^__Host-platform_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await browser.get(`${local}/agents`)).status).toBe(200);
    const plain = browser.cookie().replace("__Host-", "");
    expect((await browser.get(`${local}/agents`, { cookie: plain })).status).toBe(401);
    const token = tokenIn(await browser.get(`${local}/agents`));
    const act = (origin: string) => browser.form(`${local}/logout`, { token }, { origin });
    expect((await act("http://platform.example")).status).toBe(403);
    expect((await act("https://platform.example")).status).toBe(303);
  } finally {
    await secured.close();
  }
  const browser = openBrowser(url);
  const entered = await logIn(browser, await loginLink(platform, url));
  expect(entered.headers.get("set-cookie")).toMatch(/^platform_session=[\w-]{43}; (?!.*Secure)/);
});

/** The address it listens on; its public URL is not reachable from tests. */
const readAddress = async ({ platform }: TestServer): Promise<string> => {
  const rows = await platform.db.selectFrom("server_addresses").select("url").execute();
  return rows.find(({ url }) => url.includes("127.0.0.1"))?.url ?? expect.fail("no address");
};

test("a session lasts while it is used, at most a week", async () => {
  await member("clock@example.com");
  let now = Date.now();
  const sessions = openSessions(server.platform.db, () => new Date(now));
  const secret = await sessions.begin((await userOf("clock@example.com")).id, "link");
  now += 11.9 * hour;
  expect(await sessions.find(secret)).not.toBeNull();
  now += 11.9 * hour;
  expect(await sessions.find(secret)).not.toBeNull();
  now += 12.1 * hour;
  expect(await sessions.find(secret)).toBeNull();
  const begun = now;
  const used = await sessions.begin((await userOf("clock@example.com")).id, "link");
  for (; now < begun + 7 * 24 * hour; now += 6 * hour) expect(await sessions.find(used)).not.toBeNull();
  expect(await sessions.find(used)).toBeNull();
});

test("the last use is written once a minute", async () => {
  let now = Date.now();
  const { db } = server.platform;
  const sessions = openSessions(db, () => new Date(now));
  const secret = await sessions.begin((await userOf(await member("seen@example.com"))).id, "link");
  const seen = async () => (await sessions.list((await userOf("seen@example.com")).id))[0]?.lastSeenAt.getTime();
  const begun = await seen();
  now += 59_000;
  await sessions.find(secret);
  expect(await seen()).toBe(begun);
  now += 1_000;
  await sessions.find(secret);
  expect(await seen()).toBe(now);
});

test("a session reads the API, and changes data only with its form token", async () => {
  const browser = await loggedIn();
  expect(JSON.parse((await browser.get("/v1/me")).html)).toMatchObject({ userEmail: "admin@localhost" });
  const create = (headers: Record<string, string>) =>
    browser.send("/v1/agents", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ prompt: { text: "by cookie" } }),
    });
  const other = await loggedIn();
  const tokens: Record<string, string>[] = ["", "wrong", other.token].map((given) => ({ "x-csrf-token": given }));
  for (const headers of [{}, ...tokens]) {
    const refused = await create(headers);
    expect(refused.status).toBe(403);
    expect(errorOf(refused.html)).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("X-CSRF-Token"),
    });
  }
  const token = { "x-csrf-token": browser.token };
  const elsewhere: [string, string][] = [
    ["origin", "https://evil.example"],
    ["origin", "null"],
    ["sec-fetch-site", "cross-site"],
    ["sec-fetch-site", "same-site"],
  ];
  for (const [name, value] of elsewhere) {
    const refused = await create({ ...token, [name]: value });
    expect(refused.status).toBe(403);
    expect(errorOf(refused.html).message).toContain("another site");
  }
  expect((await create({ ...token, origin: server.url, "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect((await create(token)).status).toBe(200);
});

test("an Authorization header takes precedence over the cookie", async () => {
  const browser = await loggedIn();
  for (const authorization of ["", "Bearer x", `Bearer plt_${"0".repeat(12)}_${"0".repeat(64)}`, "Digest x"])
    expect((await browser.get("/v1/me", { authorization })).status).toBe(401);
  const mine = await browser.get("/v1/me", { authorization: `Bearer ${key}` });
  expect(JSON.parse(mine.html)).toMatchObject({ apiKeyName: "test" });
  const dead = await browser.get("/v1/me", { cookie: "platform_session=gone" });
  expect(errorOf(dead.html)).toMatchObject({ code: "unauthorized", message: expect.stringContaining("has ended") });
});

test("a session has the rights of its user's role, from the moment the role changes", async () => {
  const email = await member("climber@example.com");
  const browser = await loggedIn(email);
  const { db, vault, sessions } = server.platform;
  const scopesNow = async () =>
    (await sessions.find(browser.cookie().split("=")[1] ?? ""))?.principal.scopes ?? expect.fail("no session");
  expect(await scopesNow()).toEqual(scopes.filter((scope) => scope !== "admin"));
  const administration = openAdministration(db, vault);
  await administration.changeUser({ email }, { role: "admin" });
  expect(await scopesNow()).toEqual(scopes);
  await administration.changeUser({ email }, { role: "member" });
  expect(await scopesNow()).not.toContain("admin");
});

test("git accepts keys only", async () => {
  const browser = await loggedIn();
  const { db, vault, settings } = server.platform;
  const { dataDirectory } = settings;
  const host = openGitHost({
    db,
    vault,
    dataDirectory,
    signer: testSigner(dataDirectory),
    serverUrls: () => [server.url],
  });
  const { team_id: teamId } = await userOf("admin@localhost");
  await host.repositories.create({ teamId, name: "closed", from: null }, new AbortController().signal);
  const advertised = (headers: Record<string, string>) =>
    browser.get("/git/closed.git/info/refs?service=git-upload-pack", headers);
  expect((await advertised({})).status).toBe(401);
  expect((await advertised({ cookie: "", authorization: `Bearer ${key}` })).status).toBe(200);
});

test("logins and logouts are in the audit log", async () => {
  const browser = await loggedIn();
  await browser.form("/logout", { token: browser.token });
  const rows = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq", "desc").execute();
  const latest = rows.slice(0, 3).map(({ entry }) => JSON.parse(entry));
  const { id } = await userOf("admin@localhost");
  const actor = `user:${id}`;
  expect(latest).toMatchObject([
    { actor, action: "session.changed", data: { ended_at: expect.any(String) } },
    { actor, action: "session.created", data: { user_id: id, method: "link" } },
    { action: "login_link.changed", data: { used_at: expect.any(String) } },
  ]);
});

test("no cookie causes a server error, and only an issued one is accepted", async () => {
  const cookies = fc.oneof(
    fc.string(),
    fc.string().map((value) => `platform_session=${value}`),
    fc.stringMatching(/^[\w-]{43}$/).map((value) => `platform_session=${value}`),
    fc
      .array(fc.constantFrom("platform_session", "=", ";", " ", "%", "%e0%a4%a", '"', ","), { maxLength: 12 })
      .map((all) => all.join("")),
  );
  await fc.assert(
    fc.asyncProperty(cookies, async (text) => {
      // Bytes that a header cannot contain are never sent.
      const cookie = text.replaceAll(/[^\x20-\x7e]/g, "?");
      for (const path of ["/agents", "/v1/me"])
        expect((await openBrowser(server.url).get(path, { cookie })).status).toBe(401);
    }),
    runs,
  );
});
