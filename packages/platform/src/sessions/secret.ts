// Secrets that are given out once: 32 random bytes, of which only a hash is kept.
import { createHash, createHmac, randomBytes } from "node:crypto";

export interface NewSecret {
  /** May be shown. */
  id: string;
  secret: string;
  hash: Buffer;
}

export function makeSecret(): NewSecret {
  const secret = randomBytes(32).toString("base64url");
  return { id: randomBytes(6).toString("hex"), secret, hash: hashSecret(secret) };
}

/** What cannot be one of ours is not looked for. */
export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Known to whoever sees the pages of a session, and of no use without its cookie. */
export const formTokenOf = (secret: string): string =>
  createHmac("sha256", secret).update("form token").digest("base64url");
