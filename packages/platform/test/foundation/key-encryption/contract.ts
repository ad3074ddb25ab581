// What every key-encryption key promises, in a file or of a service, as tests.
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type KeyEncryption, Unsealable } from "../../../src/foundation/vault/index.ts";

export interface KeyPair {
  /** Opens the key anew, as another server does. */
  open(): Promise<KeyEncryption>;
  openOther(): Promise<KeyEncryption>;
}

export function keyEncryptionContract(name: string, { open, openOther }: KeyPair): void {
  test(`${name}: what was wrapped is unwrapped by another server, and its bytes do not show the data key`, async () => {
    const plain = randomBytes(32);
    const key = await open();
    const [wrapped, again] = [await key.wrap(plain), await key.wrap(plain)];
    expect(wrapped.equals(again)).toBe(false);
    for (const bytes of [wrapped, again]) {
      expect(bytes.includes(plain)).toBe(false);
      expect(await (await open()).unwrap(bytes)).toEqual(plain);
    }
  });

  test(`${name}: what was changed, cut off or wrapped by another key is not unwrapped`, async () => {
    const wrapped = await (await open()).wrap(randomBytes(32));
    const changedAt = (at: number): Buffer => {
      const changed = Buffer.from(wrapped);
      changed.writeUInt8((changed[at] ?? 0) ^ 2, at);
      return changed;
    };
    const last = wrapped.length - 4;
    for (const bytes of [changedAt(0), changedAt(last >> 1), changedAt(last), wrapped.subarray(0, 40)])
      await expect((await open()).unwrap(bytes)).rejects.toThrow(Unsealable);
    await expect((await openOther()).unwrap(wrapped)).rejects.toThrow(Unsealable);
  });

  test(`${name}: codes are the same on every server, and differ by text, by subject and by key`, async () => {
    const [key, again, other] = [await open(), await open(), await openOther()];
    const code = await key.authenticate("text", "a");
    expect(code).toHaveLength(32);
    expect(await again.authenticate("text", "a")).toEqual(code);
    for (const different of [
      key.authenticate("text", "b"),
      key.authenticate("text.", "a"),
      other.authenticate("text", "a"),
    ])
      expect((await different).equals(code)).toBe(false);
  });

  test(`${name}: the fingerprint is that of the key`, async () => {
    const { fingerprint } = await open();
    expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect((await open()).fingerprint).toBe(fingerprint);
    expect((await openOther()).fingerprint).not.toBe(fingerprint);
  });
}
