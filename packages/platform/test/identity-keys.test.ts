// Which key signs identity tokens, and when the next one is made.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { openBuckets } from "../src/identity-tokens/bucket.ts";
import { chooseSigner, needsNext, openIdentityKeys } from "../src/identity-tokens/keys.ts";
import { testPlatform } from "./harness/platform.ts";

const dayMs = 24 * 3_600_000;
const now = new Date("2026-06-01T00:00:00Z");
const aged = (...days: number[]) => days.map((day) => ({ day, created_at: new Date(now.getTime() - day * dayMs) }));

test.each([
  { ages: [0], signer: 0, next: false, case: "the first key signs at once" },
  { ages: [89], signer: 89, next: false, case: "a key signs for 90 days" },
  { ages: [90], signer: 90, next: true, case: "then the next one is made" },
  { ages: [0.5, 90.5], signer: 90.5, next: false, case: "and is published for a day before it signs" },
  { ages: [1, 91], signer: 1, next: false, case: "while the former one stays published" },
])("$case", ({ ages, signer, next }) => {
  expect(chooseSigner(aged(...ages), now)?.day).toBe(signer);
  expect(needsNext(aged(...ages), now)).toBe(next);
});

test("without a key one is made", () => {
  expect(needsNext([], now)).toBe(true);
});

test("a key that was written to the database without the vault is neither published nor signs", async () => {
  const { platform, close } = await testPlatform({ roles: ["api"] });
  onTestFinished(close);
  const { db, vault } = platform;
  const leftOut: unknown[] = [];
  const log = { error: (_: string, __: unknown, facts?: object) => leftOut.push(facts) };
  const open = () => openIdentityKeys({ db, vault, now: () => now, log });
  const { kid } = await open().signer();
  const own = await db.selectFrom("identity_keys").selectAll().executeTakeFirstOrThrow();
  const theirs = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({ format: "jwk" });
  const forged = [own, { data_key: Buffer.from("junk"), private_key: Buffer.from("junk") }].map((sealed, index) => ({
    ...{ id: randomUUID(), data_key: sealed.data_key, private_key: sealed.private_key },
    ...{ public_key: JSON.stringify(theirs), created_at: new Date(now.getTime() + (index - 2) * dayMs) },
  }));
  await db.insertInto("identity_keys").values(forged).execute();
  expect((await open().published()).keys).toEqual([{ ...own.public_key, kid, use: "sig", alg: "RS256" }]);
  expect(leftOut).toEqual(expect.arrayContaining(forged.map(({ id }) => ({ id }))));
  expect((await open().signer()).kid).toBe(kid);
  await db
    .updateTable("identity_keys")
    .set({ public_key: JSON.stringify(theirs) })
    .where("id", "=", kid)
    .execute();
  await expect(open().published()).rejects.toThrow();
});

test("an agent gets ten tokens at once, then one every two seconds, and another agent its own ten", () => {
  let atMs = 0;
  const buckets = openBuckets({ burst: 10, perMinute: 30 }, () => atMs);
  const take = (name: string, count: number) => Array.from({ length: count }, () => buckets.take(name));
  expect(take("a", 11)).toEqual([...Array(10).fill(0), 2]);
  expect(take("b", 10)).toEqual(Array(10).fill(0));
  atMs += 2_000;
  expect(take("a", 2)).toEqual([0, 2]);
  atMs += 600_000;
  expect(take("a", 11)).toEqual([...Array(10).fill(0), 2]);
});
