// Signatures of GitHub's webhooks: an HMAC over the raw body. Pure.
import { createHmac, timingSafeEqual } from "node:crypto";

export function isSigned(body: Buffer, header: string | undefined, secret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (hex === undefined) return false;
  return timingSafeEqual(Buffer.from(hex, "hex"), createHmac("sha256", secret).update(body).digest());
}
