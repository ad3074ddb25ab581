// API keys: `plt_<id>_<secret>`. The id may be shown; only a hash of the whole key is stored.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface NewKey {
  id: string;
  key: string;
  hash: Buffer;
}

const idBytes = 6;
const secretBytes = 32;
const form = /^(plt|pla|plw)_([0-9a-f]{12})_[0-9a-f]{64}$/;

/** `plt`: of a user or a service account. `pla`: starts one automation, and nothing else. `plw`: connects one worker. */
export type KeyPrefix = "plt" | "pla" | "plw";

export function makeKey(prefix: KeyPrefix = "plt"): NewKey {
  const id = randomBytes(idBytes).toString("hex");
  const key = `${prefix}_${id}_${randomBytes(secretBytes).toString("hex")}`;
  return { id, key, hash: hashKey(key) };
}

/** Null if the text is not such a key of this platform. */
export function keyIdOf(key: string, prefix: KeyPrefix = "plt"): string | null {
  const [, given, id = null] = form.exec(key) ?? [];
  return given === prefix ? id : null;
}

export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

export const isSameHash = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right);
