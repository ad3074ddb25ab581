// The key by which push services know this platform (VAPID, RFC 8292). It is derived from the key-encryption key: every server
// has the same one, and none is stored. Browsers that subscribed under another one subscribe again.
import { createECDH, createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Vault } from "../../foundation/index.ts";

export interface ServerKey {
  /** P-256, uncompressed, base64url. */
  publicKey: string;
  /** The header `authorization` of a message for this push service. */
  authorize(endpoint: string, now: Date): string;
}

export async function openServerKey(vault: Vault, publicUrl: () => string): Promise<ServerKey> {
  const { privateKey, publicKey } = await derive(vault);
  return {
    publicKey,
    authorize(endpoint, now) {
      const claims = {
        aud: new URL(endpoint).origin,
        exp: Math.floor(now.getTime() / 1_000) + validSeconds,
        sub: contactOf(publicUrl()),
      };
      const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
      const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey}`;
    },
  };
}

/** At most a day is allowed. */
const validSeconds = 12 * 3_600;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Whom the push service may write to. Some refuse the address of a machine without a name. */
function contactOf(publicUrl: string): string {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isPublic = protocol === "https:" && hostname !== "localhost";
  return isPublic ? origin : "mailto:operator@example.com";
}

/** Nearly every number of 32 bytes is a private key; the next one is taken where one is not. */
async function derive(vault: Vault): Promise<{ privateKey: KeyObject; publicKey: string }> {
  const pair = createECDH("prime256v1");
  for (let attempt = 1; ; attempt += 1) {
    const scalar = (await vault.authenticate(`server key ${attempt}`, "web push")).subarray(0, 32);
    try {
      pair.setPrivateKey(scalar);
    } catch (error) {
      if (attempt === maxAttempts) throw error;
      continue;
    }
    const point = pair.getPublicKey();
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
    const key = { kty: "EC", crv: "P-256", d: scalar.toString("base64url"), x, y };
    return { privateKey: createPrivateKey({ key, format: "jwk" }), publicKey: point.toString("base64url") };
  }
}

const maxAttempts = 10;
