// Encrypts a message for one browser (RFC 8291): its push service forwards bytes that it cannot read. Pure.
import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";
import type { PushSubscription } from "@agentcli/protocol/api";

export type BrowserKeys = PushSubscription["keys"];

/** Of one message, never used again. */
export interface MessageSecrets {
  pair: ECDH;
  salt: Buffer;
}

export function newMessageSecrets(): MessageSecrets {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  return { pair, salt: randomBytes(16) };
}

const recordBytes = 4_096;
const keyLabel = "Content-Encoding: aes128gcm\0";
const nonceLabel = "Content-Encoding: nonce\0";

/** `text` has to fit into one record with its tag. Throws if the key of the browser is not on the curve. */
export function encryptMessage(
  text: Buffer,
  keys: BrowserKeys,
  { pair, salt }: MessageSecrets = newMessageSecrets(),
): Buffer {
  const browserKey = Buffer.from(keys.p256dh, "base64url");
  const ownKey = pair.getPublicKey();
  const about = Buffer.concat([Buffer.from("WebPush: info\0"), browserKey, ownKey]);
  const material = derive(pair.computeSecret(browserKey), {
    salt: Buffer.from(keys.auth, "base64url"),
    about,
    bytes: 32,
  });
  const key = derive(material, { salt, about: keyLabel, bytes: 16 });
  const nonce = derive(material, { salt, about: nonceLabel, bytes: 12 });
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const end = Buffer.from([2]);
  const sealed = Buffer.concat([cipher.update(Buffer.concat([text, end])), cipher.final(), cipher.getAuthTag()]);
  const header = Buffer.alloc(21);
  salt.copy(header);
  header.writeUInt32BE(recordBytes, 16);
  header.writeUInt8(ownKey.length, 20);
  return Buffer.concat([header, ownKey, sealed]);
}

interface Derivation {
  salt: Buffer;
  about: string | Buffer;
  bytes: number;
}

const derive = (material: Buffer, { salt, about, bytes }: Derivation): Buffer =>
  Buffer.from(hkdfSync("sha256", material, salt, about, bytes));
