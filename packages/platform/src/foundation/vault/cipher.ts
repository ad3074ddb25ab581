// AES-256-GCM with a place: bytes open only with the key and the `about` they were sealed with.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export const keyBytes = 32;

/** The bytes were changed, or are of another key or another place. */
export class Unsealable extends Error {
  override name = "Unsealable";
}

const algorithm = "aes-256-gcm";
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** version, nonce, tag, text. Nonces are random: one key seals far fewer than the 2^32 texts that this is good for. */
export function seal(key: Buffer, text: Buffer, about: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about));
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), sealed]);
}

export function openSealed(key: Buffer, sealed: Buffer, about: string): Buffer {
  const textAt = 1 + nonceBytes + tagBytes;
  if (sealed.length < textAt || sealed[0] !== version) throw new Unsealable(`${about}: not a sealed value`);
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about));
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, textAt));
  try {
    const text = decipher.update(sealed.subarray(textAt));
    // Checks the tag. It adds no bytes in this mode, so that no copy is needed: a stream opens tens of thousands.
    decipher.final();
    return text;
  } catch (error) {
    throw new Unsealable(`${about}: changed since it was sealed, or sealed with another key or for another context`, {
      cause: error,
    });
  }
}
