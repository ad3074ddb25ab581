// Invitations: who may create them and who may accept them.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openInvitations } from "../../src/identity/invitations/index.ts";
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

type LoggedIn = Browser & { token: string };

async function loggedIn(email: string): Promise<LoggedIn> {
  const browser = openBrowser(server.url);
  const user = await userOf(email);
  await logIn(browser, await makeLoginLink(server.platform.db, user?.id ?? 0, server.url));
  return { ...browser, token: tokenIn(await browser.get("/members")) };
}

const admin = () => loggedIn("admin@localhost");
const userOf = (email: string) =>
  server.platform.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();

const linkIn = ({ html }: Shown): string => /class="key">([^<]+)</.exec(html)?.[1] ?? "";
const secretIn = (link: string): string => new URL(link).searchParams.get("token") ?? "";

async function invite(email: string, role = "member"): Promise<string> {
  const { form, token } = await admin();
  return linkIn(await form("/invitations", { token, email, role }));
}

const join = (browser: Browser, link: string) => browser.form("/join", { token: secretIn(link) });

test("an invited user joins with the role of the invitation and is logged in", async () => {
  const link = await invite("new@example.com", "admin");
  const browser = openBrowser(server.url);
  const page = await browser.get(link);
  expect(page.html).toContain("new@example.com is invited");
  expect(await userOf("new@example.com")).toBeUndefined();
  expect(await join(browser, link)).toMatchObject({ status: 303, location: "/agents" });
  expect(JSON.parse((await browser.get("/v1/me")).html).userEmail).toBe("new@example.com");
  expect((await userOf("new@example.com"))?.role).toBe("admin");
});

test("of many concurrent acceptances, one succeeds", async () => {
  for (let round = 0; round < 5; round++) {
    const link = await invite(`race-${round}@example.com`);
    const answers = await Promise.all([1, 2, 3, 4].map(() => join(openBrowser(server.url), link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403]);
  }
});

test("the link is shown once and only its hash is stored", async () => {
  const { form, get, token } = await admin();
  const link = linkIn(await form("/invitations", { token, email: "once@example.com", role: "member" }));
  expect((await get("/members")).html).toContain("once@example.com");
  expect((await get("/members")).html).not.toContain(secretIn(link));
  const { db } = server.platform;
  const stored = JSON.stringify([
    await db.selectFrom("invitations").selectAll().execute(),
    await db.selectFrom("audit_entries").select("entry").execute(),
  ]);
  expect(stored).not.toContain(secretIn(link));
  expect(stored).toContain("invitation.created");
});

test("a used, revoked, replaced or expired invitation is not accepted", async () => {
  const { db } = server.platform;
  const revoked = await invite("revoked@example.com");
  const { form, token } = await admin();
  const { id } = await db
    .selectFrom("invitations")
    .select("id")
    .where("email", "=", "revoked@example.com")
    .executeTakeFirstOrThrow();
  expect((await form(`/invitations/${id}/revoke`, { token })).status).toBe(303);
  expect((await form(`/invitations/${id}/revoke`, { token })).status).toBe(404);
  const replaced = await invite("twice@example.com");
  const good = await invite("Twice@example.com");
  const old = await invite("late@example.com");
  const week = 7 * 24 * 3_600_000;
  const then = openInvitations(db, () => new Date(Date.now() + week - 60_000));
  expect(await then.find(secretIn(old))).not.toBeNull();
  const later = openInvitations(db, () => new Date(Date.now() + week + 1_000));
  expect(await later.find(secretIn(old))).toBeNull();
  expect(await later.accept({ secret: secretIn(old), proof: "link" })).toBeNull();
  for (const link of [revoked, replaced]) {
    expect((await openBrowser(server.url).get(link)).status).toBe(403);
    expect((await join(openBrowser(server.url), link)).status).toBe(403);
  }
  expect((await join(openBrowser(server.url), good)).status).toBe(303);
  expect((await join(openBrowser(server.url), good)).status).toBe(403);
});

test("members see each other but cannot invite, change or remove users", async () => {
  const member = await loggedIn("member@example.com");
  const page = await member.get("/members");
  expect(page.html).toContain("admin@localhost");
  expect(page.html).not.toContain("Invite a member");
  const { token } = { token: tokenIn(await member.get("/keys")) };
  const { id } = (await userOf("admin@localhost")) ?? expect.fail("no user");
  const forms: [string, Record<string, string>][] = [
    ["/invitations", { email: "x@example.com", role: "admin" }],
    ["/invitations/x/revoke", {}],
    [`/members/${id}/role`, { role: "member" }],
    [`/members/${id}/remove`, {}],
    [`/members/${id}/end-sessions`, {}],
    [`/members/${id}/login-link`, {}],
    ["/service-accounts", { name: "x" }],
    ["/service-accounts/x/keys", { name: "x" }],
  ];
  for (const [path, fields] of forms) {
    const refused = await member.form(path, { ...fields, token });
    expect([path, refused.status]).toEqual([path, 403]);
    expect(refused.html).toContain("Only administrators");
  }
  expect((await member.get("/service-accounts")).status).toBe(403);
});

test("an administrator cannot change users of another team", async () => {
  await server.key({ team: "others", owner: { kind: "user", email: "boss@others" } });
  const stranger = (await userOf("boss@others")) ?? expect.fail("no user");
  const { form, get, token } = await admin();
  for (const action of ["role", "remove", "end-sessions", "login-link"])
    expect((await form(`/members/${stranger.id}/${action}`, { token, role: "member" })).status).toBe(404);
  expect((await get("/members")).html).not.toContain("boss@others");
});

test("an administrator who invites an address of another team does not learn that it has a user there", async () => {
  await server.key({ team: "hidden", owner: { kind: "user", email: "boss@hidden" } });
  const { form, get, token } = await admin();
  const withoutDetails = ({ status, html }: Shown) => ({
    status,
    html: html.replaceAll(
      /<time.*?<\/time>|token=[^<"]+|value="[^"]+"|(?:BOSS|free)@hidden|\/invitations\/[\w-]+/g,
      "",
    ),
  });
  const revoke = async (email: string) => {
    const [, id = ""] =
      new RegExp(`${email}[\\s\\S]*?/invitations/([\\w-]+)/revoke`).exec((await get("/members")).html) ?? [];
    expect((await form(`/invitations/${id}/revoke`, { token })).status).toBe(303);
  };
  const used = await form("/invitations", { token, email: "BOSS@hidden", role: "member" });
  await revoke("BOSS@hidden");
  const free = await form("/invitations", { token, email: "free@hidden", role: "member" });
  await revoke("free@hidden");
  expect(withoutDetails(used)).toEqual(withoutDetails(free));
});

test("an administrator who accepts the invitation of an address of another team does not learn it, and gets nothing there", async () => {
  const key = await server.key({ team: "hidden", owner: { kind: "user", email: "boss@hidden" } });
  const boss = (await userOf("boss@hidden")) ?? expect.fail("no user");
  const browser = openBrowser(server.url);
  expect(await join(browser, await invite("Boss@hidden"))).toMatchObject({ status: 303, location: "/agents" });
  expect(JSON.parse((await browser.get("/v1/me")).html).userEmail).toBe("Boss@hidden");
  const members = (await browser.get("/members")).html;
  expect(members).toContain("admin@localhost");
  const joined = (await userOf("Boss@hidden")) ?? expect.fail("no user");
  expect([joined.team_id === boss.team_id, joined.role]).toEqual([false, "member"]);
  // The user of the other team is unchanged, and is who the operator's commands mean by the address.
  expect(await userOf("boss@hidden")).toEqual(boss);
  expect((await server.call(key, "GET", "/v1/me")).status).toBe(200);
  expect(await command(server, "users", "remove", "boss@HIDDEN").catch(String)).toContain("only administrator");
  const { form, token } = await admin();
  const again = await form("/invitations", { token, email: "boss@hidden", role: "member" });
  expect([again.status, again.html]).toEqual([400, expect.stringContaining("is already in the team")]);
  expect((await form(`/members/${joined.id}/remove`, { token })).status).toBe(303);
  expect(await join(openBrowser(server.url), await invite("boss@hidden"))).toMatchObject({ status: 303 });
});

test("a member is promoted, and the only administrator can be neither demoted nor removed", async () => {
  await server.key({ team: "small", owner: { kind: "user", email: "only@small" } });
  await command(server, "users", "create", "second@small", "--team", "small");
  const only = (await userOf("only@small")) ?? expect.fail("no user");
  const second = (await userOf("second@small")) ?? expect.fail("no user");
  const { form, token } = await loggedIn("only@small");
  for (const action of ["role", "remove"]) {
    const refused = await form(`/members/${only.id}/${action}`, { token, role: "member" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("only administrator");
  }
  expect((await form(`/members/${second.id}/role`, { token, role: "admin" })).status).toBe(303);
  // Two administrators remove each other concurrently: one remains.
  const other = await loggedIn("second@small");
  await Promise.all([
    form(`/members/${second.id}/remove`, { token }),
    other.form(`/members/${only.id}/remove`, { token: other.token }),
  ]);
  const left = await server.platform.db
    .selectFrom("users")
    .select("email")
    .where("team_id", "=", only.team_id)
    .where("removed_at", "is", null)
    .execute();
  expect(left.length).toBe(1);
});

test("removing a user ends their keys, sessions and links at once", async () => {
  await command(server, "users", "create", "leaver@example.com");
  const leaver = await loggedIn("leaver@example.com");
  const key = await server.key({ owner: { kind: "user", email: "leaver@example.com" } });
  const { id = 0 } = (await userOf("leaver@example.com")) ?? {};
  const link = await makeLoginLink(server.platform.db, id, server.url);
  expect(await command(server, "users", "remove", "Leaver@example.com")).toBe("removed Leaver@example.com");
  expect((await leaver.get("/v1/me")).status).toBe(401);
  expect((await openBrowser(server.url).get(link)).status).toBe(401);
  await expect.poll(async () => (await server.call(key, "GET", "/v1/me")).status).toBe(401);
  await expect(server.key({ owner: { kind: "user", email: "leaver@example.com" } })).rejects.toThrow("was removed");
  const back = await invite("leaver@example.com");
  const browser = openBrowser(server.url);
  await join(browser, back);
  expect((await browser.get("/v1/me")).status).toBe(200);
  expect((await server.call(key, "GET", "/v1/me")).status).toBe(401);
  expect((await userOf("leaver@example.com"))?.id).toBe(id);
});

test("sessions are listed and ended: one, all others, all of a member, all by command", async () => {
  await command(server, "users", "create", "roamer@example.com");
  const [first, second, third] = [1, 2, 3].map(() => loggedIn("roamer@example.com"));
  const here = (await first) ?? expect.fail("not in");
  const there = (await second) ?? expect.fail("not in");
  await third;
  const status = async (browser: Browser) => (await browser.get("/v1/me")).status;
  const page = await here.get("/sessions");
  const token = tokenIn(page);
  const ends = [...page.html.matchAll(/action="(\/sessions\/[0-9a-f]+\/end)"/g)].map(([, path]) => path ?? "");
  expect(ends.length).toBe(2);
  const stranger = await admin();
  expect((await stranger.form(ends[0] ?? "", { token: stranger.token })).status).toBe(404);
  expect((await here.form(ends[0] ?? "", { token })).status).toBe(303);
  expect((await here.form("/sessions/end-others", { token })).status).toBe(303);
  expect([await status(here), await status(there)]).toEqual([200, 401]);
  const { id } = (await userOf("roamer@example.com")) ?? expect.fail("no user");
  const boss = await admin();
  expect((await boss.form(`/members/${id}/end-sessions`, { token: boss.token })).status).toBe(303);
  expect(await status(here)).toBe(401);
  const again = await loggedIn("roamer@example.com");
  expect(await command(server, "users", "end-sessions", "roamer@example.com")).toBe("ended 1");
  expect(await status(again)).toBe(401);
});

test("an invitation is created, listed and revoked by command", async () => {
  const link = await command(server, "users", "invite", "shell@example.com", "--user-role", "admin");
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/join\?token=[\w-]{43}$/);
  const listed = JSON.parse(await command(server, "invitations", "list", "--json"));
  const { id } = listed.find(({ email }: { email: string }) => email === "shell@example.com");
  expect(await command(server, "invitations", "revoke", id)).toBe(`revoked ${id}`);
  await expect(command(server, "invitations", "revoke", id)).rejects.toThrow("There is no pending invitation");
  expect((await join(openBrowser(server.url), link)).status).toBe(403);
  await expect(command(server, "users", "invite", "member@example.com")).rejects.toThrow("is already in the team");
  await expect(command(server, "users", "invite", "x@y", "--team", "none")).rejects.toThrow("no team none");
});

test("a login link is created for a named user, by command and by an administrator", async () => {
  const browser = openBrowser(server.url);
  await logIn(browser, await command(server, "login-link", "member@example.com"));
  expect(JSON.parse((await browser.get("/v1/me")).html).userEmail).toBe("member@example.com");
  await expect(command(server, "login-link", "unknown@example.com")).rejects.toThrow(
    "There is no user unknown@example.com",
  );
  const { form, token } = await admin();
  const { id } = (await userOf("member@example.com")) ?? expect.fail("no user");
  const link = linkIn(await form(`/members/${id}/login-link`, { token }));
  expect((await logIn(openBrowser(server.url), link)).status).toBe(303);
});

test("an unused invitation does not readmit a removed user", async () => {
  const link = await invite("early@example.com");
  await command(server, "users", "create", "early@example.com");
  await command(server, "users", "remove", "early@example.com");
  expect((await join(openBrowser(server.url), link)).status).toBe(403);
});

test.each(["a\u001b[2J@x.org", "a\u200b@x.org", "\u202ea@x.org", "a b@x.org", "a@b@c", "a@\u0007"])(
  "%j is refused as an address",
  async (email) => {
    const { form, token } = await admin();
    const refused = await form("/invitations", { token, email, role: "member" });
    expect([refused.status, refused.html.includes("Invalid e-mail address")]).toEqual([400, true]);
  },
);

test("a user who is already logged in is not asked to log in again", async () => {
  const { get } = await admin();
  const again = await get("/login?token=used&next=/keys");
  expect([again.status, again.location]).toEqual([302, "/keys"]);
  expect((await get("/login?next=//evil.example")).location).toBe("/agents");
  const { headers } = await openBrowser(server.url).get("/login");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("another site cannot make a browser join", async () => {
  const link = await invite("victim@example.com");
  const browser = openBrowser(server.url);
  const elsewhere: Record<string, string>[] = [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }];
  for (const headers of elsewhere)
    expect((await browser.form("/join", { token: secretIn(link) }, headers)).status).toBe(403);
  expect(browser.cookie()).toBe("");
});

test("no token causes a server error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), async (token) => {
      const shown = await openBrowser(server.url).get(`/join?token=${encodeURIComponent(token)}`);
      const joined = await openBrowser(server.url).form("/join", { token });
      expect([shown.status, joined.status]).toEqual([403, 403]);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("every page sends its security headers", async () => {
  const { get } = await admin();
  for (const path of [
    "/agents",
    "/members",
    "/keys",
    "/service-accounts",
    "/sessions",
    "/accounts",
    "/join?token=x",
    "/nothing",
  ]) {
    const { headers } = await get(path, { accept: "text/html" });
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});
