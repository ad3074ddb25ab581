// What a login believes: one source for the address, one use of an attempt, a token made for this client.
import { createSecretKey } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { openBrowser } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import {
  claimsFor,
  clientSecret,
  type MaliciousProvider,
  makeToken,
  maliciousProvider,
  oidcSettings,
} from "./openid-provider.ts";

let provider: MaliciousProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await maliciousProvider();
  server = await platform();
  await server.key();
  const { db, vault } = server.platform;
  await openAdministration(db, vault).createUser({ email: "admin@example.com", team: "default", role: "admin" });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const platform = (changes = {}) =>
  testServer({
    roles: ["api"],
    allowPrivate: ["127.0.0.1/32"],
    oidc: oidcSettings(provider.issuer, { allowedDomains: ["example.com"], administrators }),
    variables: { PATH: process.env.PATH, OIDC_SECRET: clientSecret },
    ...changes,
  });
const administrators = { claim: "groups", groups: ["operators"] };

/** Claims replace those of a valid ID token; undefined leaves one out. */
function sendClaims(changes: Record<string, unknown>): void {
  provider.token = ({ nonce }) => makeToken(provider.key.privateKey, { ...claimsFor(provider, nonce), ...changes });
}

/** A browser up to the callback. */
async function begin() {
  const browser = openBrowser(server.url);
  const { location } = await browser.get("/login/oidc");
  return { browser, back: (await openBrowser(provider.issuer).get(location)).location };
}

async function logIn(): Promise<{ status: number; email: string | null }> {
  const { browser, back } = await begin();
  const { status } = await browser.get(back);
  const me = await browser.get("/v1/me");
  return { status, email: me.status === 200 ? JSON.parse(me.html).userEmail : null };
}

const refused = { status: 403, email: null };

test.each([
  ["verified in the ID token", { email: undefined, email_verified: true }, { email: "admin@example.com" }],
  [
    "verified in the ID token, unverified in the user info",
    { email: undefined, email_verified: true },
    { email: "admin@example.com", email_verified: false },
  ],
  [
    "named in the ID token, verified in the user info",
    { email: "admin@example.com", email_verified: undefined },
    { email_verified: true },
  ],
  [
    "named in the ID token, verified for another address",
    { email: "admin@example.com", email_verified: false },
    { email: "mallory@example.com", email_verified: true },
  ],
])("an administrator's address %s gives no session", async (sub, idToken, userInfo) => {
  sendClaims({ sub, ...idToken });
  provider.userInfo = { sub, ...userInfo };
  expect(await logIn()).toEqual(refused);
});

test("an address and its verification from the user info alone give a session", async () => {
  sendClaims({ sub: "plain", email: undefined, email_verified: undefined });
  provider.userInfo = { sub: "plain", email: "plain@example.com", email_verified: true };
  expect(await logIn()).toEqual({ status: 302, email: "plain@example.com" });
});

test.each([
  ["an empty subject", ""],
  ["a blank subject", "  "],
  ["a subject with a NUL", "a\0b"],
  ["a subject with half a character", "a\ud800"],
  ["a subject that is too long", "a".repeat(256)],
])("%s is refused", async (what, sub) => {
  sendClaims({ sub, email: `${what.replaceAll(" ", "-")}@example.com`, groups: [] });
  expect(await logIn()).toEqual(refused);
});

test.each([
  ["another subject", { sub: "other-subject" }],
  ["an empty subject", { sub: "" }],
  ["no subject", {}],
])("user info with %s is refused", async (_what, subject) => {
  sendClaims({ sub: "me", email: undefined });
  provider.userInfo = { email: "me@example.com", email_verified: true, ...subject };
  expect(await logIn()).toEqual(refused);
});

test.each<[string, Record<string, unknown>]>([
  ["a verification that is a text", { email_verified: "true" }],
  ["an address with an invisible character", { email: "a\u{e0101}dmin@example.com" }],
  ["an address with half a character", { email: "a\ud800@example.com" }],
  ["another authorized party", { azp: "other" }],
  ["another authorized party among audiences", { aud: ["platform", "other"], azp: "other" }],
])("%s is refused", async (what, claims) => {
  sendClaims({ sub: what, email: `${what.replaceAll(" ", "-")}@example.com`, groups: [], ...claims });
  expect(await logIn()).toEqual(refused);
});

test("an address that differs only in a Unicode case fold is not the administrator's", async () => {
  const { db, vault } = server.platform;
  await openAdministration(db, vault).createUser({ email: "kim@example.com", team: "default", role: "admin" });
  sendClaims({ sub: "kelvin", email: "\u212aim@example.com", groups: [] });
  expect(await logIn()).toEqual({ status: 302, email: "\u212aim@example.com" });
});

test.each([
  ["the secret of the client", () => createSecretKey(Buffer.from(clientSecret))],
  [
    "the public key of the provider",
    () => createSecretKey(Buffer.from(provider.key.publicKey.export({ type: "spki", format: "pem" }))),
  ],
])("a token signed symmetrically with %s is refused", async (_what, key) => {
  provider.token = ({ nonce }) => makeToken(key(), claimsFor(provider, nonce), "HS256");
  expect(await logIn()).toEqual(refused);
});

test("an attempt is used once, whichever server its cookie and callback are sent to", async () => {
  sendClaims({ sub: "once", email: "once@example.com", groups: [] });
  const { databaseUrl, kekFile } = server.platform.settings;
  const second = await platform({ databaseUrl, kekFile });
  try {
    const { browser, back } = await begin();
    const headers = { cookie: browser.cookie() };
    const atSecond = back.replace(server.url, second.url);
    const shown = await Promise.all([back, atSecond, back, atSecond].map((url) => openBrowser(url).get(url, headers)));
    expect(shown.map(({ status }) => status).sort()).toEqual([302, 403, 403, 403]);
    const late = await openBrowser(second.url).get(atSecond, headers);
    expect(late.status).toBe(403);
    expect(late.html).toContain("was already used");
  } finally {
    await second.close();
  }
});

test("a failed callback uses its attempt too", async () => {
  sendClaims({ sub: "twice", email: "twice@example.com", groups: [] });
  const { browser, back } = await begin();
  const headers = { cookie: browser.cookie() };
  expect((await openBrowser(server.url).get(back.replace(/state=[^&]+/, "state=wrong"), headers)).status).toBe(403);
  expect((await openBrowser(server.url).get(back, headers)).html).toContain("was already used");
});

test("a login replaces a session cookie that was set before it", async () => {
  sendClaims({ sub: "fixed", email: "fixed@example.com", groups: [] });
  const { browser, back } = await begin();
  const planted = "a".repeat(43);
  const { headers, status } = await browser.get(back, { cookie: `${browser.cookie()}; platform_session=${planted}` });
  expect(status).toBe(302);
  expect(headers.getSetCookie().join()).toMatch(/platform_session=(?!aaaa)[\w-]{43};/);
});
