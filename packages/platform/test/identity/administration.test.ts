// Users, teams and the key-encryption key, as changed by the operator of the platform.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimNodeId } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { openVault, readKeyFile, rotateKeyFile } from "../../src/foundation/vault/index.ts";
import { type Administration, openAdministration, openPrincipals } from "../../src/identity/principals/index.ts";
import { agentNameAad } from "../../src/runs/index.ts";
import { openFixture } from "../harness/fixture.ts";
import { type TestPlatform, testPlatform } from "../harness/platform.ts";

let tested: TestPlatform;
let administration: Administration;

beforeAll(async () => {
  tested = await testPlatform();
  administration = openAdministration(tested.platform.db, tested.platform.vault);
  await tested.key();
});
afterAll(() => tested.close());

test("teams and users are created, listed and limited", async () => {
  await administration.createTeam("red");
  await expect(administration.createTeam("red")).rejects.toThrow("Team red already exists");
  const ada = await administration.createUser({ email: "ada@red", team: "red", role: "member" });
  expect(ada).toMatchObject({ team: "red", role: "admin", spendLimitUsd: null });
  const bob = await administration.createUser({ email: "bob@red", team: "red", role: null });
  expect(bob.role).toBe("member");
  await expect(administration.createUser({ email: "bob@red", team: "red", role: null })).rejects.toThrow("already");
  await expect(administration.createUser({ email: "x@y", team: "blue", role: null })).rejects.toThrow("no team blue");
  expect(await administration.changeUser({ email: "bob@red" }, { spendLimitUsd: 12.5 })).toMatchObject({
    spendLimitUsd: 12.5,
  });
  expect(await administration.changeTeam("red", { spendLimitUsd: 100 })).toMatchObject({
    users: 2,
    spendLimitUsd: 100,
  });
  expect(await administration.changeTeam("red", { spendLimitUsd: null })).toMatchObject({ spendLimitUsd: null });
  expect((await administration.listUsers("red")).map(({ email }) => email)).toEqual(["ada@red", "bob@red"]);
  expect((await administration.listUsers(null)).length).toBe(3);
  await expect(administration.listUsers("green")).rejects.toThrow("no team green");
});

test("a team keeps one administrator, and the keys of a former administrator can no longer administer", async () => {
  await administration.createTeam("two");
  for (const email of ["a@two", "b@two"]) await administration.createUser({ email, team: "two", role: "admin" });
  const key = await tested.key({ team: "two", owner: { kind: "user", email: "b@two" } });
  const results = await Promise.allSettled(
    ["a@two", "b@two"].map((email) => administration.changeUser({ email }, { role: "member" })),
  );
  expect(results.filter(({ status }) => status === "rejected").length).toBe(1);
  const [remaining] = (await administration.listUsers("two")).filter(({ role }) => role === "admin");
  await administration.changeUser({ email: "a@two" }, { role: "admin" });
  await administration.changeUser({ email: "b@two" }, { role: "member" });
  expect(remaining).toBeDefined();
  const identity = await tested.platform.principals.authenticate(`Bearer ${key}`);
  expect(identity.kind === "known" && identity.principal.scopes).not.toContain("admin");
});

test("of concurrent creations with the same address, in any letter case, exactly one succeeds", async () => {
  await administration.createTeam("crowd");
  const create = (email: string) => administration.createUser({ email, team: "crowd", role: null });
  for (const name of ["ada", "bob", "cleo"]) {
    const results = await Promise.allSettled([`${name}@x`, `${name.toUpperCase()}@x`, `${name}@X`].map(create));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  }
  expect((await administration.listUsers("crowd")).length).toBe(3);
  await create("Änne.k@x");
  expect((await administration.findUser({ email: "Änne.K@X" })).email).toBe("Änne.k@x");
  // Full Unicode lowercasing turns the Kelvin sign into a k; the mailbox is a different one.
  await expect(administration.findUser({ email: "Änne.\u212a@x" })).rejects.toThrow("There is no user");
});

test("a key created while its owner is removed or demoted has no more rights than the owner", async () => {
  const { db, principals } = tested.platform;
  for (const email of ["first@race", "second@race"]) await tested.key({ team: "race", owner: { kind: "user", email } });
  await administration.changeUser({ email: "second@race" }, { role: "admin" });
  const key = await tested.key({ team: "race", owner: { kind: "user", email: "second@race" } });
  const authenticate = async () =>
    await openPrincipals({ ...tested.platform, now: () => new Date() }).authenticate(`Bearer ${key}`);
  expect(await authenticate()).toMatchObject({ principal: { scopes: expect.arrayContaining(["admin"]) } });
  await db.updateTable("users").set({ role: "member" }).where("email", "=", "second@race").execute();
  expect(await authenticate()).toMatchObject({
    kind: "known",
    principal: { scopes: expect.not.arrayContaining(["admin"]) },
  });
  await db.updateTable("users").set({ removed_at: new Date() }).where("email", "=", "second@race").execute();
  expect(await authenticate()).toMatchObject({ kind: "refused", reason: expect.stringContaining("revoked") });
  const listed = await principals.listKeys();
  expect(listed.find(({ id }) => key.includes(id))?.revokedAt).not.toBeNull();
});

test("after rotating the key-encryption key everything still opens, and the former key opens nothing", async () => {
  const fixture = await openFixture();
  const { db, settings } = fixture.platform;
  const kekFile = `${settings.dataDirectory}/kek`;
  const { agentId } = await fixture.newAgent("hello");
  const former = readFileSync(kekFile, "utf8");
  const before = readKeyFile(kekFile)?.fingerprint;
  const { fingerprint, dataKeys, formerFile } = await rotateKeyFile(db, kekFile);
  expect([fingerprint === before, dataKeys]).toEqual([false, 2]);
  expect(readFileSync(formerFile, "utf8")).toBe(former);
  const vault = await openVault(db, { kekFile });
  const { data_key, name } = await db
    .selectFrom("agents")
    .select(["data_key", "name"])
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  expect((await vault.unwrap(data_key)).openText(name, agentNameAad(agentId))).toBe("hello");
  await expect(readKeyFile(formerFile)?.unwrap(data_key)).rejects.toThrow();
  await expect(openVault(db, { kekFile: formerFile })).rejects.toThrow("sealed with another key");
  await fixture.close();
});

test("the next start finishes a rotation that was interrupted before its file was renamed", async () => {
  const fixture = await openFixture();
  const { db, settings } = fixture.platform;
  const kekFile = `${settings.dataDirectory}/kek`;
  const former = readFileSync(kekFile, "utf8");
  const { fingerprint } = await rotateKeyFile(db, kekFile);
  renameSync(kekFile, `${kekFile}.next`);
  writeFileSync(kekFile, former, { mode: 0o600 });
  await openVault(db, { kekFile });
  expect(readKeyFile(kekFile)?.fingerprint).toBe(fingerprint);
  expect(existsSync(`${kekFile}.next`)).toBe(false);
  await fixture.close();
});

test("the key is not rotated while a server runs", async () => {
  const { db, settings } = tested.platform;
  const before = readFileSync(settings.kekFile, "utf8");
  const node = await claimNodeId({ url: settings.databaseUrl ?? "" }, silentLog);
  await expect(rotateKeyFile(db, settings.kekFile)).rejects.toThrow("Stop all servers first");
  await node.release();
  expect(readFileSync(settings.kekFile, "utf8")).toBe(before);
  await openVault(db, settings);
});
