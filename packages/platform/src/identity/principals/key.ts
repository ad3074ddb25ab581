// API keys: `plt_<id>_<secret>`. The id may be shown; only a hash of the whole key is stored.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface NewKey {
  id: string;
  key: string;
  hash: Buffer;
}

const idBytes = 6;
const secretBytes = 32;
const form = /^plt_([0-9a-f]{12})_[0-9a-f]{64}$/;

export function makeKey(): NewKey {
  const id = randomBytes(idBytes).toString("hex");
  const key = `plt_${id}_${randomBytes(secretBytes).toString("hex")}`;
  return { id, key, hash: hashKey(key) };
}

/** Null if the text is not a key of this platform. */
export const keyIdOf = (key: string): string | null => form.exec(key)?.[1] ?? null;

export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

export const isSameHash = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right);
