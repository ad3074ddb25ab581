// Invitations: who may create them and who may accept them.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openInvitations } from "../../src/identity/invitations/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { type Browser, logIn, openBrowser, tokenIn } from "../harness/browser.ts";
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
  return { ...browser, token: tokenIn(await browser.get("/keys")) };
}

/** As the web app does. */
async function ask({ send, token }: LoggedIn, method: string, path: string, body?: unknown) {
  const headers = { "x-csrf-token": token, "content-type": "application/json" };
  const { status, html } = await send(path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status, text: html, body: JSON.parse(html) };
}

const addresses = async (browser: LoggedIn, path: string): Promise<string[]> =>
  (await ask(browser, "GET", path)).body.items.map(({ email }: { email: string }) => email);

const admin = () => loggedIn("admin@localhost");
const userOf = (email: string) =>
  server.platform.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();

const userWithId = (id: number) =>
  server.platform.db.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();

const secretIn = (link: string): string => new URL(link).searchParams.get("token") ?? "";

async function invite(email: string, role = "member"): Promise<string> {
  return (await ask(await admin(), "POST", "/v1/invitations", { email, role })).body.link;
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
  const link = await invite("once@example.com");
  const listed = await ask(await admin(), "GET", "/v1/invitations");
  expect(listed.text).toContain("once@example.com");
  expect(listed.text).not.toContain(secretIn(link));
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
  const boss = await admin();
  const { id, link: revoked } = (await ask(boss, "POST", "/v1/invitations", { email: "revoked@example.com" })).body;
  expect((await ask(boss, "DELETE", `/v1/invitations/${id}`)).status).toBe(200);
  expect((await ask(boss, "DELETE", `/v1/invitations/${id}`)).status).toBe(404);
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
  expect(await addresses(member, "/v1/members")).toContain("admin@localhost");
  const { id } = (await userOf("admin@localhost")) ?? expect.fail("no user");
  const requests: [string, string, object?][] = [
    ["GET", "/v1/invitations"],
    ["POST", "/v1/invitations", { email: "x@example.com", role: "admin" }],
    ["DELETE", "/v1/invitations/x"],
    ["PATCH", `/v1/members/${id}`, { role: "member" }],
    ["DELETE", `/v1/members/${id}`],
    ["DELETE", `/v1/members/${id}/sessions`],
    ["POST", `/v1/members/${id}/login-link`],
    ["GET", "/v1/service-accounts"],
    ["POST", "/v1/service-accounts", { name: "x" }],
  ];
  for (const [method, path, body] of requests) {
    const refused = await ask(member, method, path, body);
    expect([path, refused.status, refused.text]).toEqual([path, 403, expect.stringContaining("Ask an administrator")]);
  }
});

test("an administrator cannot change users of another team", async () => {
  await server.key({ team: "others", owner: { kind: "user", email: "boss@others" } });
  const stranger = (await userOf("boss@others")) ?? expect.fail("no user");
  const boss = await admin();
  const path = `/v1/members/${stranger.id}`;
  expect((await ask(boss, "PATCH", path, { role: "member" })).status).toBe(404);
  expect((await ask(boss, "DELETE", path)).status).toBe(404);
  expect((await ask(boss, "DELETE", `${path}/sessions`)).status).toBe(404);
  expect((await ask(boss, "POST", `${path}/login-link`)).status).toBe(404);
  expect(await addresses(boss, "/v1/members")).not.toContain("boss@others");
});

test("an administrator who invites an address of another team does not learn that it has a user there", async () => {
  await server.key({ team: "hidden", owner: { kind: "user", email: "boss@hidden" } });
  const boss = await admin();
  const invited = async (email: string) => {
    const { status, body } = await ask(boss, "POST", "/v1/invitations", { email });
    const listed = await addresses(boss, "/v1/invitations");
    const revoked = await ask(boss, "DELETE", `/v1/invitations/${body.id}`);
    const { id, email: sent, expiresAt, link, ...rest } = body;
    return [status, rest, sent === email, listed.includes(email), revoked.status];
  };
  const used = await invited("BOSS@hidden");
  expect(used).toEqual([201, { role: "member" }, true, true, 200]);
  expect(await invited("free@hidden")).toEqual(used);
});

test.each([
  ["in another spelling", "Boss@hidden", "boss@hidden"],
  ["in the same spelling", "chief@hidden", "chief@hidden"],
])(
  "an administrator who accepts the invitation of an address of another team, %s, does not learn it, and gets nothing there",
  async (_, invited, address) => {
    const key = await server.key({ team: "hidden", owner: { kind: "user", email: address } });
    const known = (await userOf(address)) ?? expect.fail("no user");
    const browser = openBrowser(server.url);
    expect(await join(browser, await invite(invited))).toMatchObject({ status: 303, location: "/agents" });
    const { userEmail, userId } = JSON.parse((await browser.get("/v1/me")).html);
    expect(userEmail).toBe(invited);
    expect((await browser.get("/v1/members")).html).toContain("admin@localhost");
    const joined = (await userWithId(userId)) ?? expect.fail("no user");
    expect([joined.team_id === known.team_id, joined.role]).toEqual([false, "member"]);
    // The user of the other team is unchanged, and is who the operator's commands mean by the address.
    expect(await userWithId(known.id)).toEqual(known);
    expect((await server.call(key, "GET", "/v1/me")).status).toBe(200);
    const again = await ask(await admin(), "POST", "/v1/invitations", { email: address });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining("is already in the team")]);
    expect((await ask(await admin(), "DELETE", `/v1/members/${joined.id}`)).status).toBe(200);
    expect(await join(openBrowser(server.url), await invite(address))).toMatchObject({ status: 303 });
    const removed = await command(server, "users", "remove", address.toUpperCase()).catch(String);
    expect(removed).toContain(known.role === "admin" ? "only administrator" : "removed");
  },
);

test("a member is promoted, and the only administrator can be neither demoted nor removed", async () => {
  await server.key({ team: "small", owner: { kind: "user", email: "only@small" } });
  await command(server, "users", "create", "second@small", "--team", "small");
  const only = (await userOf("only@small")) ?? expect.fail("no user");
  const second = (await userOf("second@small")) ?? expect.fail("no user");
  const boss = await loggedIn("only@small");
  const path = ({ id }: { id: number }) => `/v1/members/${id}`;
  for (const refused of [
    await ask(boss, "PATCH", path(only), { role: "member" }),
    await ask(boss, "DELETE", path(only)),
  ])
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("only administrator")]);
  expect(await ask(boss, "PATCH", path(second), { role: "admin" })).toMatchObject({
    ...{ status: 200, body: { email: "second@small", role: "admin" } },
  });
  // Two administrators remove each other concurrently: one remains.
  const other = await loggedIn("second@small");
  await Promise.all([ask(boss, "DELETE", path(second)), ask(other, "DELETE", path(only))]);
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

const sessionOf = async (browser: LoggedIn): Promise<string> =>
  (await ask(browser, "GET", "/v1/me/sessions")).body.items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent)
    .id;

const auditHead = async (): Promise<number> =>
  Number((await server.platform.db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq);

/** Sends all but the last byte; `end` sends it, and resolves with the status and the text. */
async function holdBack(method: string, path: string, sent: { headers: Record<string, string>; body: Buffer }) {
  const outgoing = request(server.url + path, {
    method,
    headers: { ...sent.headers, "content-length": sent.body.length },
  });
  const answered = once(outgoing, "response");
  outgoing.write(sent.body.subarray(0, -1));
  await once(outgoing, "socket");
  return async () => {
    outgoing.end(sent.body.subarray(-1));
    const [response] = await answered;
    let text = "";
    for await (const piece of response) text += piece;
    return { status: response.statusCode, text };
  };
}

/** The server has answered another request: it has had the time to read those before it. */
const settled = (browser: LoggedIn) => ask(browser, "GET", "/v1/me");

test("an administrator who is demoted, and a user who is removed, before the body of a request has come is refused", async () => {
  const first = await admin();
  await command(server, "users", "create", "late@example.com");
  const id = String((await userOf("late@example.com"))?.id);
  expect((await ask(first, "PATCH", `/v1/members/${id}`, { role: "admin" })).status).toBe(200);
  const late = await loggedIn("late@example.com");
  const headers = { cookie: late.cookie(), "x-csrf-token": late.token, "content-type": "application/json" };
  const hold = (method: string, path: string, body: unknown) =>
    holdBack(method, path, { headers, body: Buffer.from(JSON.stringify(body)) });
  const promote = await hold("PATCH", `/v1/members/${id}`, { role: "admin" });
  const createKey = await hold("POST", "/v1/keys", { name: "kept" });
  await settled(late);
  expect((await ask(first, "PATCH", `/v1/members/${id}`, { role: "member" })).status).toBe(200);
  expect(await promote()).toMatchObject({ status: 403 });
  expect((await userOf("late@example.com"))?.role).toBe("member");
  await ask(first, "DELETE", `/v1/members/${id}`);
  expect(await createKey()).toMatchObject({ status: 401 });
  const keys = await server.platform.db.selectFrom("api_keys").selectAll().where("user_id", "=", Number(id)).execute();
  expect(keys).toEqual([]);
});

test("a key that is revoked before all of a push has come changes no repository", async () => {
  const key = await server.key();
  await command(server, "repos", "create", "shop");
  const directory = await temporaryDirectory();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: directory.path,
      input: args[0] === "pack-objects" ? `${commit}\n` : "",
    });
  let commit = "";
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  commit = git("rev-parse", "HEAD").toString().trim();
  const line = `${"0".repeat(40)} ${commit} refs/heads/late\0report-status`;
  const pack = git("pack-objects", "--stdout", "--revs", "--quiet");
  await directory.remove();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-git-receive-pack-request" };
  const body = Buffer.concat([Buffer.from(`${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`), pack]);
  const push = () => holdBack("POST", "/git/shop.git/git-receive-pack", { headers, body });
  const branches = async () =>
    (await fetch(`${server.url}/git/shop.git/info/refs?service=git-upload-pack`, { headers: { ...admits } })).text();
  const admits = { authorization: `Bearer ${await server.key()}` };
  const late = await push();
  await command(server, "keys", "revoke", key.split("_")[1] ?? "");
  const status = async () => (await fetch(`${server.url}/v1/me`, { headers })).status;
  await expect.poll(status).toBe(401);
  await late().catch(() => "the connection is closed, as git has ended");
  expect(await branches()).not.toContain("late");
  headers.authorization = admits.authorization;
  expect((await (await push())()).text).toContain("ok refs/heads/late");
  expect(await branches()).toContain("late");
});

test("sessions are listed and ended: one by its user, all of a member, all by command", async () => {
  await command(server, "users", "create", "roamer@example.com");
  const here = await loggedIn("roamer@example.com");
  const there = await loggedIn("roamer@example.com");
  await loggedIn("roamer@example.com");
  const status = async (browser: Browser) => (await browser.get("/v1/me")).status;
  const { items } = (await ask(here, "GET", "/v1/me/sessions")).body;
  expect(items.map(({ method }: { method: string }) => method)).toEqual(["link", "link", "link"]);
  const path = `/v1/me/sessions/${await sessionOf(there)}`;
  expect((await ask(await admin(), "DELETE", path)).status).toBe(404);
  expect(await status(there)).toBe(200);
  const before = await auditHead();
  expect(await ask(here, "DELETE", path)).toMatchObject({ status: 200, body: { id: path.split("/").at(-1) } });
  expect(await auditHead()).toBe(before + 1);
  expect([await status(here), await status(there)]).toEqual([200, 401]);
  expect((await ask(here, "DELETE", path)).status).toBe(404);
  const key = await server.key();
  expect((await server.call(key, "GET", "/v1/me/sessions")).status).toBe(200);
  expect(await server.call(key, "DELETE", `/v1/me/sessions/${await sessionOf(await admin())}`)).toMatchObject({
    ...{ status: 403, body: { error: { code: "key_not_supported" } } },
  });
  const { id } = (await userOf("roamer@example.com")) ?? expect.fail("no user");
  expect(await ask(await admin(), "DELETE", `/v1/members/${id}/sessions`)).toMatchObject({ body: { ended: 2 } });
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
  const { id } = (await userOf("member@example.com")) ?? expect.fail("no user");
  const made = await ask(await admin(), "POST", `/v1/members/${id}/login-link`);
  expect((await logIn(openBrowser(server.url), made.body.link)).status).toBe(303);
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").execute();
  const created = entries.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action === "login_link.created");
  const boss = (await userOf("admin@localhost")) ?? expect.fail("no user");
  expect(created.map(({ actor }) => actor)).toContain(`user:${boss.id}`);
  const byKey = await server.call(await server.key(), "POST", `/v1/members/${id}/login-link`);
  expect([byKey.status, JSON.stringify(byKey.body)]).toEqual([403, expect.stringContaining("key_not_supported")]);
});

test("a removed user who is invited by a link again has no secret of before: another person may open the link", async () => {
  await command(server, "users", "create", "back@example.com");
  const before = await loggedIn("back@example.com");
  expect((await ask(before, "PUT", "/v1/me/secrets/MINE", { value: "hunter2-hunter2" })).status).toBe(201);
  await command(server, "users", "remove", "back@example.com");
  const after = openBrowser(server.url);
  expect(await join(after, await invite("back@example.com"))).toMatchObject({ status: 303 });
  expect(JSON.parse((await after.get("/v1/me")).html).userEmail).toBe("back@example.com");
  expect(JSON.parse((await after.get("/v1/me/secrets")).html).items).toEqual([]);
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
    const refused = await ask(await admin(), "POST", "/v1/invitations", { email });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Invalid e-mail address")]);
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

test("a key does not become a session by an invitation, and still lists and revokes those of people", async () => {
  const link = await invite("waiting@example.com");
  const key = await server.key();
  const refused = await server.call(key, "POST", "/v1/invitations", { email: "self@example.com", role: "admin" });
  expect(refused).toMatchObject({ status: 403, body: { error: { code: "key_not_supported" } } });
  const { body } = await server.call(key, "GET", "/v1/invitations");
  const { items } = body as { items: { id: string; email: string }[] };
  expect(items.map(({ email }) => email)).not.toContain("self@example.com");
  const { id } = items.find(({ email }) => email === "waiting@example.com") ?? expect.fail("not listed");
  expect((await server.call(key, "DELETE", `/v1/invitations/${id}`)).status).toBe(200);
  expect((await join(openBrowser(server.url), link)).status).toBe(403);
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
