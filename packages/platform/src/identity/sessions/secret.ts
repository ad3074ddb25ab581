// Secrets that are shown once: 32 random bytes, stored as a hash only.
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

/** Malformed secrets are not looked up. */
export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Present on every page of a session; useless without its cookie. */
export const formTokenOf = (secret: string): string =>
  createHmac("sha256", secret).update("form token").digest("base64url");
