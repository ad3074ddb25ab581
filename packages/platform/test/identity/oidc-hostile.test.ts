// A provider, or someone between, that answers with whatever could be believed: nothing of it becomes a login.
import { createHmac, createSecretKey, sign } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { openProvider } from "../../src/identity/oidc/provider.ts";
import {
  claimsFor,
  clientSecret,
  type MaliciousProvider,
  makeToken,
  maliciousProvider,
  oidcSettings,
  signingKey,
} from "./openid-provider.ts";

let provider: MaliciousProvider;
beforeAll(async () => {
  provider = await maliciousProvider();
});
afterAll(() => provider.close());
beforeEach(() => {
  provider.answers = {};
  provider.back = {};
  provider.userInfo = {};
  sendClaims({});
});

const policy = openNetworkPolicy({ allowPrivate: ["127.0.0.1/32"] });
const administrators = { claim: "groups", groups: ["operators"] };

const open = () =>
  openProvider({
    settings: oidcSettings(provider.issuer, { administrators }),
    secret: clientSecret,
    policy,
    now: Date.now,
  });

/** From the redirect to the claims; the query of the callback can be changed. */
async function logIn(change: (callback: URL) => void = () => {}) {
  const opened = open();
  const { url, secrets } = await opened.begin("http://127.0.0.1:1/login/oidc/callback");
  const sent = await fetch(url, { redirect: "manual" });
  const callback = new URL(sent.headers.get("location") ?? "");
  change(callback);
  return opened.finish(callback, secrets);
}

const sendClaims = (changes: Record<string, unknown>): void => {
  provider.token = ({ nonce }) =>
    makeToken(provider.key.privateKey, { ...claimsFor(provider, nonce), groups: [], ...changes });
};
const seconds = (fromNow: number) => Math.floor(Date.now() / 1_000) + fromNow;
const refused = { name: "LoginRefused" };

test("with what a provider should send, there are claims", async () => {
  expect(await logIn()).toEqual({
    issuer: provider.issuer,
    subject: "mallory",
    verifiedEmail: "mallory@example.com",
    groups: [],
  });
});

test.each<[string, Record<string, unknown>]>([
  ["another issuer", { iss: "https://accounts.example.com" }],
  ["an issuer with a slash more", { iss: "ISSUER/" }],
  ["another audience", { aud: "other" }],
  ["an empty list of audiences", { aud: [] }],
  ["several audiences and no authorized party", { aud: ["platform", "other"] }],
  ["an audience with a space more", { aud: "platform " }],
  ["an end in the past", { exp: seconds(-3_600) }],
  ["an end as text", { exp: String(seconds(300)) }],
  ["no end", { exp: undefined }],
  ["a begin in the future", { nbf: seconds(3_600) }],
  ["an issue in the future", { iat: seconds(3_600) }],
  ["an end that no clock reaches", { exp: 1e300 }],
  ["no nonce", { nonce: undefined }],
  ["another nonce", { nonce: "other" }],
  ["a list of nonces", { nonce: ["NONCE"] }],
  ["a number as subject", { sub: 7 }],
  ["a list as subject", { sub: ["admin"] }],
  ["an object as subject", { sub: { length: 1 } }],
  ["null as subject", { sub: null }],
  ["no subject", { sub: undefined }],
])("a token with %s is refused", async (_what, changes) => {
  provider.token = ({ nonce }) => {
    const text = JSON.stringify(changes).replaceAll("ISSUER", provider.issuer).replaceAll("NONCE", nonce);
    const removed = Object.fromEntries(
      Object.entries(changes)
        .filter(([, value]) => value === undefined)
        .map(([name]) => [name, undefined]),
    );
    const claims = { ...claimsFor(provider, nonce), groups: [], ...JSON.parse(text), ...removed };
    return makeToken(provider.key.privateKey, claims);
  };
  await expect(logIn()).rejects.toMatchObject(refused);
});

type Sign = (text: string) => Buffer;
const withKey: Sign = (text) => sign("sha256", Buffer.from(text), provider.key.privateKey);
const withOther =
  (other: ReturnType<typeof signingKey>): Sign =>
  (text) =>
    sign("sha256", Buffer.from(text), other.privateKey);
const symmetric =
  (secret: string): Sign =>
  (text) =>
    createHmac("sha256", createSecretKey(Buffer.from(secret)))
      .update(text)
      .digest();
const attacker = signingKey();

test.each<[string, Record<string, unknown>, Sign]>([
  ["no algorithm and no signature", { alg: "none" }, () => Buffer.alloc(0)],
  ["no algorithm in other letters", { alg: "nOnE" }, () => Buffer.alloc(0)],
  ["a key of its own in the header", { alg: "RS256", jwk: attacker.publicJwk }, withOther(attacker)],
  ["an address of a key in the header", { alg: "RS256", kid: "one", jku: "http://127.0.0.1:1/" }, withOther(attacker)],
  ["the name of a file as key", { alg: "HS256", kid: "../../../dev/null" }, symmetric("\0")],
  ["the secret of the client", { alg: "HS256", kid: "one" }, symmetric(clientSecret)],
  ["a key that the provider does not have", { alg: "RS256", kid: "two" }, withKey],
  ["another algorithm than it is signed with", { alg: "RS512", kid: "one" }, withKey],
  ["an extension that must be understood", { alg: "RS256", kid: "one", crit: ["x"], x: 1 }, withKey],
  ["an encoding that is not one", { alg: "RS256", kid: "one", crit: ["b64"], b64: false }, withKey],
])("a token with %s is refused", async (_what, header, signature) => {
  provider.token = ({ nonce }) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part({ typ: "JWT", ...header })}.${part({ ...claimsFor(provider, nonce), groups: [] })}`;
    return `${text}.${signature(text).toString("base64url")}`;
  };
  await expect(logIn()).rejects.toMatchObject(refused);
});

const json = (response: ServerResponse, body: unknown, type = "application/json") =>
  void response.writeHead(200, { "content-type": type }).end(typeof body === "string" ? body : JSON.stringify(body));
const endless = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/json" });
  const pour = () => {
    while (response.write(" ".repeat(65_536)));
  };
  response.on("drain", pour);
  pour();
};
const redirect = (response: ServerResponse) =>
  void response.writeHead(302, { location: `${provider.issuer}/elsewhere` }).end();
const switching = (response: ServerResponse) =>
  void response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
const document = (changes: object) => (response: ServerResponse) =>
  json(response, { ...provider.metadata, ...changes });

test.each<[string, string, (response: ServerResponse) => void]>([
  ["keys behind a redirect", "/jwks", redirect],
  ["keys without end", "/jwks", endless],
  ["keys in another protocol", "/jwks", switching],
  [
    "keys that are a secret",
    "/jwks",
    (response) => json(response, { keys: [{ kty: "oct", k: "AA", kid: "one", alg: "HS256" }] }),
  ],
  ["keys that are no list", "/jwks", (response) => json(response, { keys: { kid: "one" } })],
  ["keys as a page", "/jwks", (response) => json(response, "<html>", "text/html")],
  ["tokens behind a redirect", "/token", redirect],
  ["tokens without end", "/token", endless],
  ["tokens in another protocol", "/token", switching],
  ["no ID token", "/token", (response) => json(response, { access_token: "a", token_type: "Bearer" })],
  ["a list instead of tokens", "/token", (response) => json(response, [])],
  [
    "an ID token that is none",
    "/token",
    (response) => json(response, { access_token: "a", token_type: "Bearer", id_token: "x" }),
  ],
  ["a document without end", "/.well-known/openid-configuration", endless],
  ["a document behind a redirect", "/.well-known/openid-configuration", redirect],
  ["a document in another protocol", "/.well-known/openid-configuration", switching],
  [
    "a document of another issuer",
    "/.well-known/openid-configuration",
    document({ issuer: "https://accounts.example.com" }),
  ],
])("%s end the login", async (_what, path, answer) => {
  provider.answers[path] = answer;
  await expect(logIn()).rejects.toMatchObject(refused);
});

test("a document with a slash more than the issuer is refused, and not kept", async () => {
  const opened = open();
  const begin = () => opened.begin("http://127.0.0.1:1/login/oidc/callback");
  provider.answers["/.well-known/openid-configuration"] = document({ issuer: `${provider.issuer}/` });
  await expect(begin()).rejects.toMatchObject({
    ...refused,
    message: `The discovery document of the provider names the issuer "${provider.issuer}/". Ask an administrator to set oidc.issuer to exactly that.`,
  });
  provider.answers = {};
  expect((await begin()).url).toContain(provider.issuer);
});

test.each<[string, (response: ServerResponse) => void]>([
  ["behind a redirect", redirect],
  ["without end", endless],
  ["in another protocol", switching],
  [
    "as an unsigned token",
    (response) =>
      json(response, makeToken(null, { sub: "mallory", email: "a@example.com" }, "none"), "application/jwt"),
  ],
  [
    "of another subject",
    (response) => json(response, { sub: "admin", email: "admin@example.com", email_verified: true }),
  ],
  [
    "of a list of subjects",
    (response) => json(response, { sub: ["mallory"], email: "admin@example.com", email_verified: true }),
  ],
])("user info %s ends the login", async (_what, answer) => {
  sendClaims({ email: undefined });
  provider.answers["/userinfo"] = answer;
  await expect(logIn()).rejects.toMatchObject(refused);
});

test.each<[string, unknown]>([
  ["a list", ["admin@example.com"]],
  ["a name with an address", "Admin <admin@example.com>"],
  ["two addresses", "mallory@example.com,admin@example.com"],
  ["an address with a line break", "admin@example.com\n"],
  ["an address with a NUL", "admin@example.com\0.evil.example"],
  ["an object", { toString: "admin@example.com" }],
])("%s is not taken for a verified address", async (_what, email) => {
  sendClaims({ email });
  expect((await logIn()).verifiedEmail).toBeNull();
});

test.each<[string, unknown]>([
  ["a text", "operators"],
  ["a list within a list", [["operators"]]],
  ["an object like a list", { 0: "operators", length: 1 }],
  ["objects with a name", [{ name: "operators" }]],
])("%s is not taken for a list of groups", async (_what, groups) => {
  sendClaims({ groups });
  expect((await logIn()).groups).toEqual([]);
});

test("a challenge is made even where the provider offers none, or a plain one", async () => {
  for (const methods of [undefined, ["plain"]]) {
    provider.answers["/.well-known/openid-configuration"] = document({ code_challenge_methods_supported: methods });
    const { url } = await open().begin("http://127.0.0.1:1/callback");
    expect(new URL(url).searchParams.get("code_challenge_method")).toBe("S256");
    expect(new URL(url).searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  }
});

test.each<[string, (callback: URL) => void]>([
  ["another state", ({ searchParams }) => searchParams.set("state", "other")],
  ["no state", ({ searchParams }) => searchParams.delete("state")],
  ["two states", ({ searchParams }) => searchParams.append("state", "other")],
  ["two codes", ({ searchParams }) => searchParams.append("code", "other")],
  ["another issuer", ({ searchParams }) => searchParams.set("iss", "https://accounts.example.com")],
  ["a token of its own", ({ searchParams }) => searchParams.set("id_token", makeToken(null, {}, "none"))],
  ["a sealed response", ({ searchParams }) => searchParams.set("response", makeToken(null, {}, "none"))],
])("a callback with %s is refused", async (_what, change) => {
  await expect(logIn(change)).rejects.toMatchObject(refused);
});
