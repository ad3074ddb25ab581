// Keys: who gets which, and what a presented key authorizes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openVault } from "../../src/foundation/vault/index.ts";
import { type KeyRequest, openPrincipals, type Principals, scopes } from "../../src/identity/principals/index.ts";
import { freshDatabase, type TestDatabase } from "../harness/database.ts";

const folder = mkdtempSync(join(tmpdir(), "platform-principals-"));
let database: TestDatabase;
let principals: Principals;
let now = new Date();

beforeAll(async () => {
  database = await freshDatabase();
  const vault = await openVault(database.db, { kekFile: join(folder, "kek") });
  principals = openPrincipals({ db: database.db, vault, now: () => now });
});
beforeEach(async () => {
  await database.db.deleteFrom("teams").execute();
  now = new Date();
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const request: KeyRequest = {
  name: "laptop",
  team: "default",
  owner: { kind: "user", email: null },
  scopes: null,
  expiresAt: null,
};
const bearer = (key: string) => principals.authenticate(`Bearer ${key}`);
const basic = (text: string) => principals.authenticate(`Basic ${Buffer.from(text).toString("base64")}`);

test("the first key creates the team and its administrator, the next one reuses them", async () => {
  const first = await principals.createKey(request);
  const second = await principals.createKey({ ...request, name: "desktop" });
  expect(await bearer(first.key)).toEqual({
    kind: "known",
    principal: {
      kind: "user",
      teamId: first.teamId,
      keyId: first.id,
      keyName: "laptop",
      createdAt: expect.any(Date),
      scopes: [...scopes],
      userId: expect.any(Number),
      email: "admin@localhost",
      firstName: null,
      lastName: null,
      role: "admin",
    },
  });
  expect(second.teamId).toBe(first.teamId);
  expect(await database.db.selectFrom("users").select("email").execute()).toEqual([{ email: "admin@localhost" }]);
});

test("keys created concurrently for a new team share it", async () => {
  const made = await Promise.all([1, 2, 3, 4].map(() => principals.createKey({ ...request, team: "new" })));
  expect(new Set(made.map(({ teamId }) => teamId)).size).toBe(1);
});

test("the first user of a team is its administrator, later users are members", async () => {
  const user = (email: string) =>
    principals.createKey({ ...request, team: "crew", owner: { kind: "user", email } }).then(({ key }) => bearer(key));
  expect(await user("a@example.com")).toMatchObject({ principal: { role: "admin" } });
  expect(await user("b@example.com")).toMatchObject({ principal: { role: "member", scopes: scopes.slice(0, -1) } });
  await expect(
    principals.createKey({ ...request, team: "other", owner: { kind: "user", email: "a@example.com" } }),
  ).rejects.toThrow("a@example.com belongs to a team other than");
});

test.each([
  ["a key", { name: "\u001b]0;x\u0007" }],
  ["a team", { team: "a\u009b2J" }],
  ["a service account", { owner: { kind: "service_account" as const, name: "ci\u202e" } }],
  ["a key", { name: "ci\u200b" }],
  ["a team", { team: "crew\u2060" }],
  ["a service account", { owner: { kind: "service_account" as const, name: "ci\u{e0041}" } }],
])("the name of %s has no control or invisible characters, whichever way it comes", async (_of, change) => {
  await expect(principals.createKey({ ...request, ...change })).rejects.toThrow("must not contain control characters");
  expect(await database.db.selectFrom("api_keys").select("id").execute()).toEqual([]);
});

test("a key of a service account has no user", async () => {
  const owner = { kind: "service_account", name: "ci" } as const;
  const { key } = await principals.createKey({ ...request, owner, scopes: ["agents:read"] });
  const { principal } = (await bearer(key)) as { principal: object };
  expect(principal).toMatchObject({ kind: "service_account", name: "ci", scopes: ["agents:read"] });
  expect(principal).not.toHaveProperty("userId");
  await expect(principals.createKey({ ...request, owner, scopes: ["admin"] })).rejects.toThrow("only for keys of adm");
});

test("a key is accepted as a bearer token, as a user name and as a password", async () => {
  const { key } = await principals.createKey(request);
  for (const answer of [await bearer(key), await basic(`${key}:`), await basic(key), await basic(`x:${key}`)])
    expect(answer.kind).toBe("known");
  expect((await principals.authenticate(`bearer   ${key} `)).kind).toBe("known");
});

test("a wrong secret, an unknown id and a missing key are refused, each with a hint", async () => {
  const { key } = await principals.createKey(request);
  const last = key.endsWith("0") ? "1" : "0";
  expect(await bearer(key.slice(0, -1) + last)).toMatchObject({ reason: expect.stringContaining("Invalid API key") });
  expect(await bearer(key.replace(/^plt_.{12}/, "plt_000000000000"))).toMatchObject({ kind: "refused" });
  expect(await bearer("sk-1")).toMatchObject({ reason: expect.stringContaining("begin with plt_") });
  expect(await principals.authenticate(undefined)).toMatchObject({ reason: expect.stringContaining("Bearer <key>") });
  expect(await principals.authenticate("Digest x")).toMatchObject({
    reason: expect.stringContaining("is malformed"),
  });
});

test("an expired key is refused from that moment, even while it is cached", async () => {
  const expiresAt = new Date(now.getTime() + 300);
  const { key } = await principals.createKey({ ...request, expiresAt });
  expect((await bearer(key)).kind).toBe("known");
  now = expiresAt;
  expect(await bearer(key)).toMatchObject({ reason: expect.stringContaining(`expired at ${now.toISOString()}`) });
});

test("a revoked key is refused within a second, even by a server that has just cached it", async () => {
  const { id, key } = await principals.createKey(request);
  expect((await bearer(key)).kind).toBe("known");
  expect(await principals.revokeKey(id)).toBe(true);
  now = new Date(now.getTime() + 1_000);
  expect(await bearer(key)).toMatchObject({ reason: expect.stringContaining("revoked") });
  expect(await principals.revokeKey("ffffffffffff")).toBe(false);
});

test("keys are listed without their secrets", async () => {
  const { id, key } = await principals.createKey(request);
  const listed = await principals.listKeys();
  expect(listed).toEqual([expect.objectContaining({ id, name: "laptop", team: "default" })]);
  expect(JSON.stringify(listed)).not.toContain(key.slice(-64));
  expect(await principals.listKeys(-1)).toEqual([]);
});

test("the secret is nowhere in the database", async () => {
  const { key } = await principals.createKey(request);
  const rows = await database.db.selectFrom("api_keys").selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(key.slice(-64));
});

test("no header causes an exception", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.tuple(fc.constantFrom("Basic", "Bearer"), fc.base64String()).map((two) => two.join(" ")),
      ),
      async (header) => {
        expect((await principals.authenticate(header)).kind).toBe("refused");
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
