// Login with an OpenID provider: a real one for the successful cases, a malicious one for the refused cases.
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OidcSettings } from "../../src/foundation/config/index.ts";
import { openInvitations } from "../../src/identity/invitations/index.ts";
import { localPath } from "../../src/identity/oidc/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { type Browser, openBrowser, type Shown } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import {
  claimsFor,
  clientSecret,
  type MaliciousProvider,
  makeToken,
  maliciousProvider,
  oidcSettings,
  type RealProvider,
  realProvider,
  signingKey,
} from "./openid-provider.ts";

let real: RealProvider;
let server: TestServer;
const settings: Partial<OidcSettings> = {
  allowedDomains: ["example.com"],
  allowedEmails: ["guest@elsewhere.org"],
  administrators: { claim: "groups", groups: ["operators"] },
};
beforeAll(async () => {
  real = await realProvider();
  server = await platformWith(real.issuer);
  real.register(server.url);
  await server.key();
});
afterAll(async () => {
  await server.close();
  await real.close();
});

const platformWith = (issuer: string, changes: Partial<OidcSettings> = settings, allowPrivate = ["127.0.0.1/32"]) =>
  testServer({
    roles: ["api"],
    allowPrivate,
    oidc: oidcSettings(issuer, changes),
    variables: { PATH: process.env.PATH, OIDC_SECRET: clientSecret },
  });

/** Separate cookies for the provider and the platform. */
async function callbackUrl(browser: Browser, begin = "/login/oidc"): Promise<string> {
  const redirect = await browser.get(begin);
  if (redirect.status !== 302) throw new Error(`${redirect.status} ${redirect.html}`);
  const there = openBrowser(new URL(redirect.location).origin);
  let at = new URL(redirect.location);
  for (let hops = 0; hops < 8 && at.pathname !== "/login/oidc/callback"; hops++)
    at = new URL((await there.get(at.href)).location, at);
  return at.href;
}

async function logIn(person: string, begin?: string, before?: string): Promise<{ browser: Browser; shown: Shown }> {
  real.person = person;
  const browser = openBrowser(server.url);
  if (before !== undefined) await browser.get(before);
  return { browser, shown: await browser.get(await callbackUrl(browser, begin)) };
}

const reasonIn = ({ html }: Shown): string => /class="problem">([^<]*)</.exec(html)?.[1] ?? "";
const userOf = (email: string, { platform }: TestServer = server) =>
  platform.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
const me = async (browser: Browser) => JSON.parse((await browser.get("/v1/me")).html).userEmail;

test("a user of an allowed domain logs in and becomes a member; the second login is the same user", async () => {
  real.accounts.set("ada", { email: "ada@example.com", email_verified: true });
  const first = await logIn("ada");
  expect(first.shown).toMatchObject({ status: 302, location: "/agents" });
  expect(first.shown.headers.getSetCookie().join()).toMatch(/platform_session=[\w-]{43};.*HttpOnly; SameSite=Lax/);
  expect(await me(first.browser)).toBe("ada@example.com");
  const user = await userOf("ada@example.com");
  expect(user?.role).toBe("member");
  const second = await logIn("ada");
  expect(await me(second.browser)).toBe("ada@example.com");
  expect((await userOf("ada@example.com"))?.id).toBe(user?.id);
});

test("the page names the provider, and the login returns to the requested page", async () => {
  const browser = openBrowser(server.url);
  const asked = await browser.get("/keys?x=1");
  expect(asked.status).toBe(401);
  const begin = /href="(\/login\/oidc[^"]*)">Log in with Example</.exec(asked.html)?.[1] ?? "";
  expect(begin).toBe(`/login/oidc?next=${encodeURIComponent("/keys?x=1")}`);
  real.accounts.set("wanderer", { email: "wanderer@example.com", email_verified: true });
  expect((await logIn("wanderer", begin)).shown.location).toBe("/keys?x=1");
  const evil = await logIn("wanderer", `/login/oidc?next=${encodeURIComponent("//evil.example/")}`);
  expect(evil.shown.location).toBe("/agents");
});

test("a user is identified by subject even if the address changes; an address alone is not enough", async () => {
  real.accounts.set("eve-1", { email: "eve@example.com", email_verified: true });
  await logIn("eve-1");
  real.accounts.set("eve-1", { email: "eve.married@example.com", email_verified: false });
  expect(await me((await logIn("eve-1")).browser)).toBe("eve@example.com");
  real.accounts.set("eve-2", { email: "EVE@example.com", email_verified: true });
  const { shown, browser } = await logIn("eve-2");
  expect(shown.status).toBe(403);
  expect(reasonIn(shown)).toContain("belongs to another account");
  expect((await browser.get("/v1/me")).status).toBe(401);
});

test("an existing user is linked to the account with their verified address", async () => {
  const { db, vault } = server.platform;
  await openAdministration(db, vault).createUser({ email: "Old@outside.org", team: "default", role: "admin" });
  real.accounts.set("old", { email: "old@outside.org", email_verified: false });
  expect(reasonIn((await logIn("old")).shown)).toContain("not verified your e-mail address");
  real.accounts.set("old", { email: "old@outside.org", email_verified: true, groups: ["operators"] });
  expect(await me((await logIn("old")).browser)).toBe("Old@outside.org");
});

test.each([
  ["an unknown address", { email: "stranger@outside.org", email_verified: true }, "has no user here"],
  ["a domain with an allowed suffix", { email: "x@notexample.com", email_verified: true }, "has no user here"],
  ["a domain inside an address", { email: "x@example.com@outside.org", email_verified: true }, "not verified"],
  ["a subdomain", { email: "x@sub.example.com", email_verified: true }, "has no user here"],
  ["an address that was not verified", { email: "y@example.com", email_verified: false }, "not verified"],
  ["a missing verification claim", { email: "y@example.com" }, "not verified"],
  ["no address", {}, "not verified"],
  ["an invalid address", { email: "x y@example.com", email_verified: true }, "not verified"],
])("%s is refused with a reason", async (_what, account, sentence) => {
  real.accounts.set("refused", account);
  const { shown, browser } = await logIn("refused");
  expect(shown.status).toBe(403);
  expect(reasonIn(shown)).toContain(sentence);
  expect(browser.cookie()).toBe("");
});

test("an allowed address can log in from any domain", async () => {
  real.accounts.set("guest", { email: "Guest@elsewhere.org", email_verified: true });
  expect((await logIn("guest")).shown.status).toBe(302);
});

test("groups grant and revoke the administrator role, except for the only administrator", async () => {
  real.accounts.set("boss", { email: "boss@example.com", email_verified: true, groups: ["operators"] });
  await logIn("boss");
  expect((await userOf("boss@example.com"))?.role).toBe("admin");
  real.accounts.set("boss", { email: "boss@example.com", email_verified: true, groups: ["others"] });
  await logIn("boss");
  expect((await userOf("boss@example.com"))?.role).toBe("member");
  const { db, vault } = server.platform;
  const administration = openAdministration(db, vault);
  await administration.changeUser({ email: "boss@example.com" }, { role: "admin" });
  for (const { email, role } of await administration.listUsers("default"))
    if (role === "admin" && email !== "boss@example.com")
      await administration.changeUser({ email }, { role: "member" });
  expect((await logIn("boss")).shown.status).toBe(302);
  expect((await userOf("boss@example.com"))?.role).toBe("admin");
});

test("another site cannot make a browser accept an invitation with the provider", async () => {
  const { db } = server.platform;
  const { team_id: teamId } = (await userOf("ada@example.com")) ?? expect.fail("no user");
  const invitations = openInvitations(db, () => new Date());
  const { secret } = await invitations.invite({ teamId, email: "led@invited.org", role: "member" });
  const [begin, page] = [`/login/oidc?invitation=${secret}`, `/join?token=${secret}`];
  // A browser that has never seen the page, and one whose strict cookie another site cannot use.
  const browser = openBrowser(server.url);
  expect(await browser.get(begin)).toMatchObject({ status: 302, location: page });
  expect((await browser.get(page)).headers.getSetCookie().join()).toMatch(/platform_invitation=.*SameSite=Strict/);
  const elsewhere = await browser.get(begin, { "sec-fetch-site": "cross-site" });
  expect(elsewhere).toMatchObject({ status: 302, location: page });
  const other = await invitations.invite({ teamId, email: "other@invited.org", role: "member" });
  expect((await browser.get(`/login/oidc?invitation=${other.secret}`)).location).toBe(`/join?token=${other.secret}`);
  expect((await browser.get(begin)).location).not.toBe(page);
});

test("an invitation is valid only for the address it names", async () => {
  const { db } = server.platform;
  const invitations = openInvitations(db, () => new Date());
  const { team_id: teamId } = (await userOf("ada@example.com")) ?? expect.fail("no user");
  const { secret } = await invitations.invite({ teamId, email: "grace@invited.org", role: "member" });
  const page = await openBrowser(server.url).get(`/join?token=${secret}`);
  expect(page.html).toContain("Join with Example");
  expect((await openBrowser(server.url).form("/join", { token: secret })).status).toBe(403);
  real.accounts.set("thief", { email: "thief@outside.org", email_verified: true });
  const accept = [`/login/oidc?invitation=${secret}`, `/join?token=${secret}`] as const;
  const stolen = await logIn("thief", ...accept);
  expect(reasonIn(stolen.shown)).toContain("is for grace@invited.org");
  real.accounts.set("grace", { email: "Grace@invited.org", email_verified: true });
  const joined = await logIn("grace", ...accept);
  expect(joined.shown.status).toBe(302);
  expect(await invitations.find(secret)).toBeNull();
  await invitations.invite({ teamId, email: "linus@invited.org", role: "member" });
  real.accounts.set("linus", { email: "linus@invited.org", email_verified: true });
  expect((await logIn("linus")).shown.status).toBe(302);
});

test.each(["gone@invited.org", "gone@example.com"])(
  "%s, once removed, can log in only after a new invitation",
  async (email) => {
    real.accounts.set(email, { email, email_verified: true });
    const { db, vault } = server.platform;
    const { team_id: teamId } = (await userOf("ada@example.com")) ?? expect.fail("no user");
    const invite = () => openInvitations(db, () => new Date()).invite({ teamId, email, role: "member" });
    await invite();
    const { browser } = await logIn(email);
    await openAdministration(db, vault).removeUser({ email });
    expect((await browser.get("/v1/me")).status).toBe(401);
    expect(reasonIn((await logIn(email)).shown)).toContain("was removed");
    await invite();
    expect((await logIn(email)).shown.status).toBe(302);
  },
);

test("a removed user is not let in again by another address of the same account", async () => {
  const { db, vault } = server.platform;
  real.accounts.set("renamed", { email: "renamed@example.com", email_verified: true });
  expect((await logIn("renamed")).shown.status).toBe(302);
  await openAdministration(db, vault).removeUser({ email: "renamed@example.com" });
  real.accounts.set("renamed", { email: "renamed.again@example.com", email_verified: true });
  expect(reasonIn((await logIn("renamed")).shown)).toContain("was removed");
  expect(await userOf("renamed.again@example.com")).toBeUndefined();
  const { team_id: teamId } = (await userOf("ada@example.com")) ?? expect.fail("no user");
  const invitation = { teamId, email: "renamed.again@example.com", role: "member" } as const;
  await openInvitations(db, () => new Date()).invite(invitation);
  expect(await me((await logIn("renamed")).browser)).toBe("renamed.again@example.com");
  expect(await me((await logIn("renamed")).browser)).toBe("renamed.again@example.com");
});

test("an account that is bound while its user is removed does not come back with the user", async () => {
  const { db, vault } = server.platform;
  const administration = openAdministration(db, vault);
  await administration.createTeam("guests");
  await administration.createUser({ email: "host@guests.org", team: "guests", role: "admin" });
  const { id } = await administration.createUser({ email: "guest@guests.org", team: "guests", role: "member" });
  real.accounts.set("early", { email: "guest@guests.org", email_verified: true });
  real.accounts.set("later", { email: "guest@guests.org", email_verified: true });
  real.person = "early";
  const browser = openBrowser(server.url);
  const callback = await callbackUrl(browser);
  let shown: Promise<Shown> | undefined;
  await db.transaction().execute(async (transaction) => {
    await sql`lock table identities in share mode`.execute(transaction);
    shown = browser.get(callback);
    await expect.poll(() => waitingForLocks(server), { timeout: 20_000 }).toBeGreaterThan(0);
    await transaction.updateTable("users").set({ removed_at: new Date() }).where("id", "=", id).execute();
  });
  await shown;
  await administration.createUser({ email: "guest@guests.org", team: "guests", role: "member" });
  expect(await me((await logIn("later")).browser)).toBe("guest@guests.org");
  expect((await logIn("early")).shown.status).toBe(403);
});

const waitingForLocks = async ({ platform: { db } }: TestServer): Promise<number> =>
  (
    await sql<{ count: number }>`
      select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`.execute(db)
  ).rows[0]?.count ?? 0;

describe("an address that someone joined with by a link alone", () => {
  /** As before a provider was configured: the link proves nothing. */
  async function joinByLink(team: string, email: string) {
    const { db, principals } = server.platform;
    const { key } = await principals.createKey({
      ...{ name: "first", team, owner: { kind: "user", email: null }, scopes: null, expiresAt: null },
    });
    const found = await db.selectFrom("teams").select("id").where("name", "=", team).executeTakeFirstOrThrow();
    const invitations = openInvitations(db, () => new Date());
    const { secret } = await invitations.invite({ teamId: found.id, email, role: "member" });
    const userId = (await invitations.accept({ secret, proof: "link" })) ?? expect.fail("not joined");
    const own = await principals.createKey({
      ...{ name: "own", team, owner: { kind: "user", email }, scopes: null, expiresAt: null },
    });
    return { userId, key: own.key, admin: key };
  }
  const usersAt = (email: string) =>
    server.platform.db
      .selectFrom("users")
      .select(["id", "has_shared_address"])
      .where("email", "=", email)
      .orderBy("id")
      .execute();

  test("in another team is its owner's, who becomes a user of their own", async () => {
    const joined = await joinByLink("evil", "captain@example.com");
    real.accounts.set("captain", { email: "captain@example.com", email_verified: true });
    const { browser } = await logIn("captain");
    expect(await me(browser)).toBe("captain@example.com");
    expect(await usersAt("captain@example.com")).toEqual([
      { id: joined.userId, has_shared_address: true },
      { id: expect.any(Number), has_shared_address: false },
    ]);
    const { status } = await server.call(joined.key, "GET", "/v1/me");
    expect(status).toBe(200);
  });

  test("in another team first, and in the same team, does not lock its owner out", async () => {
    const [elsewhere, here] = [
      await joinByLink("evil", "two@example.com"),
      await joinByLink("default", "two@example.com"),
    ];
    real.accounts.set("two", { email: "two@example.com", email_verified: true });
    expect(await me((await logIn("two")).browser)).toBe("two@example.com");
    expect(await usersAt("two@example.com")).toEqual([
      { id: elsewhere.userId, has_shared_address: true },
      { id: here.userId, has_shared_address: false },
    ]);
    expect((await server.call(here.key, "GET", "/v1/me")).status).toBe(401);
  });

  test("in the same team keeps its user, whose keys of before end with the proof", async () => {
    const joined = await joinByLink("default", "chief@example.com");
    real.accounts.set("chief", { email: "chief@example.com", email_verified: true });
    await logIn("chief");
    expect(await usersAt("chief@example.com")).toEqual([{ id: joined.userId, has_shared_address: false }]);
    expect((await server.call(joined.key, "GET", "/v1/me")).status).toBe(401);
  });

  const planted = { name: "planted", scope: "private", prompt: { text: "Look." }, triggers: [{ type: "webhook" }] };

  /** Returns a call that fires it, and how that went. */
  async function plantAutomation(key: string) {
    const { id } = (await server.call(key, "POST", "/v1/automations", planted)).body as { id: string };
    const created = await server.call(key, "POST", `/v1/automations/${id}/webhook-keys`, { name: "kept" });
    const { url, apiKey } = created.body as { url: string; apiKey: string };
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    return async () => {
      await fetch(url, { method: "POST", headers, body: "{}" });
      const firings = server.platform.db.selectFrom("automation_firings").selectAll();
      return firings.where("automation_id", "=", id).execute();
    };
  }

  test("in the same team gives its owner no automation and no account of who joined", async () => {
    const { db } = server.platform;
    const { key, userId } = await joinByLink("default", "planner@example.com");
    const fire = await plantAutomation(key);
    const account = { user_id: userId, host: "github.com", account_id: "1", login: "mallory", token: null };
    await db.insertInto("source_accounts").values(account).execute();
    real.accounts.set("planner", { email: "planner@example.com", email_verified: true });
    await logIn("planner");
    expect(await fire()).toEqual([expect.objectContaining({ status: "skipped", run_id: null })]);
    const accounts = await db.selectFrom("source_accounts").selectAll().where("user_id", "=", userId).execute();
    expect(accounts).toEqual([]);
  });

  test("removed, and invited again, gives its owner no automation of who joined", async () => {
    const { db, vault } = server.platform;
    const { key } = await joinByLink("default", "second@example.com");
    const fire = await plantAutomation(key);
    await openAdministration(db, vault).removeUser({ email: "second@example.com" });
    const { team_id: teamId } = (await userOf("ada@example.com")) ?? expect.fail("no user");
    await openInvitations(db, () => new Date()).invite({ teamId, email: "second@example.com", role: "member" });
    real.accounts.set("second", { email: "second@example.com", email_verified: true });
    await logIn("second");
    expect(await fire()).toEqual([expect.objectContaining({ status: "skipped", run_id: null })]);
  });

  test("in the same team gives agents of its owner no secret, setting, environment or machine of who joined", async () => {
    const { db } = server.platform;
    const { key, userId } = await joinByLink("default", "keeper@example.com");
    const { team_id } = (await userOf("keeper@example.com")) ?? expect.fail("no user");
    const set = (method: string, path: string, body: object) => server.call(key, method, path, body);
    const settings = { egress: { mode: "allow_all", allowlist: [] } };
    const environment = {
      ...{ owner: "personal", name: "ci", repos: [{ url: "https://github.com/acme/app" }] },
      environmentJson: '{"install": "npm ci"}',
    };
    const answers = [
      await set("PUT", "/v1/me/secrets/NODE_OPTIONS", { value: "--import=data:text/javascript,1" }),
      await set("PATCH", "/v1/me/settings", settings),
      await set("POST", "/v1/environments", environment),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201]);
    const now = new Date();
    const details = { name: "m", pool: null, labels: "{}", root_path: "/", repo_url: null, version: "1", session: "s" };
    const machine = { team_id, user_id: userId, id: "m", ...details, connected_at: now, last_seen_at: now };
    await db.insertInto("workers").values(machine).execute();
    real.accounts.set("keeper", { email: "keeper@example.com", email_verified: true });
    await logIn("keeper");
    const left = (["secrets", "user_settings", "environments", "workers"] as const).map((table) =>
      db.selectFrom(table).selectAll().where("user_id", "=", userId).execute(),
    );
    expect(await Promise.all(left)).toEqual([[], [], [], []]);
  });

  test("and left again does not lock its owner out", async () => {
    const { db, vault } = server.platform;
    await joinByLink("evil", "late@example.com");
    await openAdministration(db, vault).removeUser({ email: "late@example.com" });
    real.accounts.set("late", { email: "late@example.com", email_verified: true });
    expect((await logIn("late")).shown.status).toBe(302);
  });
});

test("concurrent first logins of one user in many browsers create one user", async () => {
  real.accounts.set("many", { email: "many@example.com", email_verified: true });
  real.person = "many";
  const browsers = [1, 2, 3, 4].map(() => openBrowser(server.url));
  const callbacks = await Promise.all(browsers.map((browser) => callbackUrl(browser)));
  const shown = await Promise.all(browsers.map((browser, index) => browser.get(callbacks[index] ?? "")));
  expect(shown.map(({ status }) => status)).toEqual([302, 302, 302, 302]);
  const rows = await server.platform.db
    .selectFrom("identities")
    .select("user_id")
    .where("subject", "=", "many")
    .execute();
  expect(rows.length).toBe(1);
});

test("a callback works once, and only in the browser that started the login", async () => {
  real.accounts.set("ada", { email: "ada@example.com", email_verified: true });
  real.person = "ada";
  const browser = openBrowser(server.url);
  const back = await callbackUrl(browser);
  const other = openBrowser(server.url);
  expect(reasonIn(await other.get(back))).toContain("not started in this browser");
  await other.get("/login/oidc");
  expect((await other.get(back)).status).toBe(403);
  expect(other.cookie()).toBe("");
  const kept = browser.cookie();
  expect((await browser.get(back)).status).toBe(302);
  expect(reasonIn(await browser.get(back))).toContain("not started in this browser");
  const replayed = await openBrowser(server.url).get(back, { cookie: kept });
  expect(reasonIn(replayed)).toContain("was already used");
});

test("a wrong state, issuer or code is refused", async () => {
  real.person = "ada";
  for (const change of [
    (url: URL) => url.searchParams.set("state", "another"),
    (url: URL) => url.searchParams.delete("state"),
    (url: URL) => url.searchParams.set("iss", "https://evil.example"),
    (url: URL) => url.searchParams.set("code", "another"),
    (url: URL) => url.searchParams.append("code", "two"),
    (url: URL) => url.searchParams.set("error", "access_denied"),
  ]) {
    const browser = openBrowser(server.url);
    const back = new URL(await callbackUrl(browser));
    change(back);
    const shown = await browser.get(back.href);
    expect(shown.status).toBe(403);
    expect(reasonIn(shown)).not.toBe("");
    expect((await browser.get("/v1/me")).status).toBe(401);
  }
});

test("no callback query causes a server error", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.constantFrom("state", "code", "iss", "error", "error_description", "id_token", "response", "x"),
        fc.string(),
      ),
      fc.string(),
      async (query, cookie) => {
        const search = new URLSearchParams(query);
        const headers = { cookie: `platform_login=${encodeURIComponent(cookie)}` };
        expect((await openBrowser(server.url).get(`/login/oidc/callback?${search}`, headers)).status).toBe(403);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("a cookie with one changed character is refused", async () => {
  real.person = "ada";
  const browser = openBrowser(server.url);
  const back = await callbackUrl(browser);
  const cookie = browser.cookie();
  const begin = cookie.indexOf("=") + 1;
  // The last characters of base64url contain unused bits.
  const position = fc.integer({ min: begin, max: cookie.length - 4 });
  await fc.assert(
    fc.asyncProperty(position, fc.stringMatching(/^[\w-]$/), async (at, letter) => {
      fc.pre(cookie[at] !== letter);
      const changed = cookie.slice(0, at) + letter + cookie.slice(at + 1);
      expect((await openBrowser(server.url).get(back, { cookie: changed })).status).toBe(403);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
  expect((await browser.get(back)).status).toBe(302);
});

test("no `next` leads to another site", () => {
  const parts = fc.constantFrom(
    "/",
    "\\",
    "//",
    "evil.example",
    "@",
    ":",
    "http:",
    "?",
    "#",
    "..",
    ".",
    "\t",
    "\n",
    "%2f",
    " ",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(parts).map((all) => all.join("")),
        fc.webUrl(),
      ),
      (wanted) => {
        const path = localPath(wanted);
        for (const base of ["https://platform.example", "http://127.0.0.1:7420"])
          expect(new URL(path, base).origin).toBe(base);
      },
    ),
    { numRuns: 10 * Number(process.env.FUZZ_RUNS ?? 200) },
  );
  expect(localPath("/agents/bc-1?x=1")).toBe("/agents/bc-1?x=1");
});

test("a provider on a private network is not contacted unless it is allowed", async () => {
  const closed = await platformWith(real.issuer, settings, []);
  try {
    const shown = await openBrowser(closed.url).get("/login/oidc");
    expect(shown.status).toBe(403);
    expect(reasonIn(shown)).toContain("allow_private");
  } finally {
    await closed.close();
  }
});

test("an unreachable provider is reported, and contacted again at the next login", async () => {
  const unreachable = await maliciousProvider();
  await unreachable.close();
  const platform = await platformWith(unreachable.issuer);
  try {
    for (let round = 0; round < 2; round++) {
      const shown = await openBrowser(platform.url).get("/login/oidc");
      expect(shown.status).toBe(403);
      expect(reasonIn(shown)).toContain("could not be reached");
    }
  } finally {
    await platform.close();
  }
});

describe("a malicious provider", () => {
  let malicious: MaliciousProvider;
  let attacked: TestServer;
  beforeAll(async () => {
    malicious = await maliciousProvider();
    attacked = await platformWith(malicious.issuer, { allowedDomains: ["example.com"] });
  });
  afterAll(async () => {
    await attacked.close();
    await malicious.close();
  });

  async function logInMaliciously(): Promise<{ shown: Shown; browser: Browser }> {
    const browser = openBrowser(attacked.url);
    return { browser, shown: await browser.get(await callbackUrl(browser)) };
  }

  test("every invalid token is refused, and the valid one is accepted", async () => {
    const stranger = signingKey();
    const claims = (nonce: string) => claimsFor(malicious, nonce);
    const { privateKey } = malicious.key;
    const past = Math.floor(Date.now() / 1_000) - 3_600;
    const invalidTokens: Record<string, MaliciousProvider["token"]> = {
      "another nonce": () => makeToken(privateKey, claims("another")),
      "no nonce": ({ nonce }) => makeToken(privateKey, { ...claims(nonce), nonce: undefined }),
      "another audience": ({ nonce }) => makeToken(privateKey, { ...claims(nonce), aud: "other" }),
      "two audiences without a party": ({ nonce }) =>
        makeToken(privateKey, { ...claims(nonce), aud: ["x", "platform"] }),
      "another issuer": ({ nonce }) => makeToken(privateKey, { ...claims(nonce), iss: "https://evil.example" }),
      "another key": ({ nonce }) => makeToken(stranger.privateKey, claims(nonce)),
      "no signature": ({ nonce }) => makeToken(null, claims(nonce), "none"),
      "a signature that says none": ({ nonce }) => makeToken(privateKey, claims(nonce), "none"),
      "a symmetric algorithm": ({ nonce }) => makeToken(privateKey, claims(nonce), "HS256"),
      "an end long ago": ({ nonce }) => makeToken(privateKey, { ...claims(nonce), exp: past, iat: past - 60 }),
      "no subject": ({ nonce }) => makeToken(privateKey, { ...claims(nonce), sub: undefined }),
      "no token": () => "",
      garbage: () => "a.b.c",
      "an address that is not verified": ({ nonce }) =>
        makeToken(privateKey, { ...claims(nonce), email_verified: "yes" }),
    };
    for (const [what, token] of Object.entries(invalidTokens)) {
      malicious.token = token;
      const { shown, browser } = await logInMaliciously();
      expect([what, shown.status, reasonIn(shown) !== ""]).toEqual([what, 403, true]);
      expect(browser.cookie()).toBe("");
    }
    expect(await attacked.platform.db.selectFrom("sessions").select("id").execute()).toEqual([]);
    malicious.token = ({ nonce }) => makeToken(privateKey, claims(nonce));
    expect((await logInMaliciously()).shown.status).toBe(302);
  });

  test("the text of a provider's error is not shown on the page", async () => {
    malicious.back = { error: "access_denied", error_description: "<script>alert(1)</script> call 555" };
    const { shown } = await logInMaliciously();
    expect(reasonIn(shown)).toContain("access_denied");
    expect(shown.html).not.toContain("555");
  });
});
