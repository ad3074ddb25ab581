// Sealed data opens only with the right key and the right associated data.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openSealed, openVault, Unsealable } from "../../src/foundation/vault/index.ts";
import { freshDatabase, type TestDatabase } from "../harness/database.ts";

let database: TestDatabase;
const folder = mkdtempSync(join(tmpdir(), "platform-vault-"));
const kekFile = join(folder, "nested", "kek");
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.db.deleteFrom("key_encryption_keys").execute();
  rmSync(kekFile, { force: true });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

test("the first start creates a key that only its owner can read", async () => {
  await openVault(database.db, { kekFile });
  expect(statSync(kekFile).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(kekFile, "utf8"), "base64")).toHaveLength(32);
});

test("any text can be sealed and opened, and never appears in the sealed bytes", async () => {
  const vault = await openVault(database.db, { kekFile });
  const { key, wrapped } = await vault.newDataKey();
  const again = await vault.unwrap(wrapped);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (text, about) => {
      const sealed = key.seal(text, about);
      expect(again.openText(sealed, about)).toBe(Buffer.from(text).toString());
      if (text.length > 6) expect(sealed.includes(text)).toBe(false);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("sealed bytes do not open with other associated data, with another key, or if changed", async () => {
  const vault = await openVault(database.db, { kekFile });
  const { key } = await vault.newDataKey();
  const { key: other } = await vault.newDataKey();
  const sealed = key.seal("hello", "record:1:1");
  expect(() => key.open(sealed, "record:1:2")).toThrow(Unsealable);
  expect(() => other.open(sealed, "record:1:1")).toThrow(Unsealable);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((sealed[at] ?? 0) ^ 1, at);
    expect(() => key.open(changed, "record:1:1")).toThrow(Unsealable);
  }
  for (let length = 0; length < sealed.length; length++)
    expect(() => key.open(sealed.subarray(0, length), "record:1:1")).toThrow(Unsealable);
});

test("a data key wrapped by another key-encryption key does not open", async () => {
  const { wrapped } = await (await openVault(database.db, { kekFile })).newDataKey();
  await database.db.deleteFrom("key_encryption_keys").execute();
  const other = await openVault(database.db, { kekFile: join(folder, "other") });
  await expect(other.unwrap(wrapped)).rejects.toThrow(Unsealable);
});

test("a server of the version before, beside this one during an upgrade, reads data keys that the key file wrapped", async () => {
  const vault = await openVault(database.db, { kekFile });
  const { key, wrapped } = await vault.newDataKey();
  // What version 0.1.0 does with a stored data key.
  const plain = openSealed(Buffer.from(readFileSync(kekFile, "utf8"), "base64"), wrapped, "data key");
  expect(openSealed(plain, key.seal("hello", "record:1:1"), "record:1:1").toString()).toBe("hello");
});

test("servers that start concurrently agree on one key", async () => {
  const vaults = await Promise.all([1, 2, 3, 4].map(() => openVault(database.db, { kekFile })));
  const { wrapped, key } = (await vaults[0]?.newDataKey()) ?? expect.fail("no vault");
  const sealed = key.seal("shared", "place");
  for (const vault of vaults) expect((await vault.unwrap(wrapped)).openText(sealed, "place")).toBe("shared");
});

test("a lost key file is not replaced by a new one", async () => {
  await openVault(database.db, { kekFile });
  rmSync(kekFile);
  await expect(openVault(database.db, { kekFile })).rejects.toThrow(/is missing.*Restore the file/);
  expect(statSync(kekFile, { throwIfNoEntry: false })).toBeUndefined();
});

test("a server with another key is refused with a clear error", async () => {
  await openVault(database.db, { kekFile });
  writeFileSync(kekFile, Buffer.alloc(32, 7).toString("base64"), { mode: 0o600 });
  await expect(openVault(database.db, { kekFile })).rejects.toThrow(/sealed with another key .*PLATFORM_KEK_FILE/);
});

test("a key file that others can read, or that is invalid, is refused", async () => {
  await openVault(database.db, { kekFile });
  chmodSync(kekFile, 0o640);
  await expect(openVault(database.db, { kekFile })).rejects.toThrow(`chmod 600 ${kekFile}`);
  writeFileSync(kekFile, "short");
  chmodSync(kekFile, 0o600);
  await expect(openVault(database.db, { kekFile })).rejects.toThrow("must hold 32 bytes");
});
