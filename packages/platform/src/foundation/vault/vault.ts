// Envelopes: data keys seal what people said; the key-encryption key wraps data keys.
import { randomBytes } from "node:crypto";
import { keyBytes, openSealed, seal, Unsealable } from "./cipher.ts";
import { readLabel, withLabel } from "./label.ts";

/** One per agent and one per team. */
export interface DataKey {
  /** `about` names the place of the text, such as `record:<thread>:<seq>`; it is authenticated, not stored. */
  seal(text: string | Buffer, about: string): Buffer;
  /** Throws Unsealable where the bytes were changed or are of another key or place. */
  open(sealed: Buffer, about: string): Buffer;
  openText(sealed: Buffer, about: string): string;
}

export interface Vault {
  /** `wrapped` is what is stored. */
  newDataKey(): Promise<{ wrapped: Buffer; key: DataKey }>;
  unwrap(wrapped: Buffer): Promise<DataKey>;
  /** A code that cannot be computed without the key-encryption key; it differs for each `about`. */
  authenticate(text: string, about: string): Promise<Buffer>;
  /** Whether the database had no key before: everything in it was written since. */
  isFirstUse: boolean;
}

/** Port to whatever keeps the key-encryption key: a file here, a key management server elsewhere. */
export interface KeyEncryption {
  /** Tells keys apart and says nothing about them. */
  fingerprint: string;
  /** For people: where the key is. */
  description: string;
  /** Of a service: what `authenticate` needs, as the service encrypted it. It is stored, and gives nothing away. */
  authenticationKey: Buffer | null;
  wrap(dataKey: Buffer): Promise<Buffer>;
  /** Throws Unsealable for what another key wrapped. */
  unwrap(wrapped: Buffer): Promise<Buffer>;
  /** The same code for the same text, as long as the key is the same. */
  authenticate(text: string, about: string): Promise<Buffer>;
}

export function vaultOf(encryption: KeyEncryption, isFirstUse = false): Vault {
  return {
    isFirstUse,
    async newDataKey() {
      const key = randomBytes(keyBytes);
      return { wrapped: await wrapWith(encryption, key), key: dataKey(key) };
    },
    unwrap: async (stored) => dataKey(await unwrapWith(encryption, stored)),
    authenticate: encryption.authenticate,
  };
}

/** As it is stored: of a file without a label, as servers of the version before this one read it, beside which it may run. */
export async function wrapWith(key: KeyEncryption, plain: Buffer): Promise<Buffer> {
  const wrapped = await key.wrap(plain);
  return key.authenticationKey === null ? wrapped : withLabel(key.fingerprint, wrapped);
}

export async function unwrapWith(key: KeyEncryption, stored: Buffer): Promise<Buffer> {
  const { isOf, wrapped } = readLabel(stored);
  if (!isOf(key.fingerprint)) throw new Unsealable(`data key: wrapped with another key than ${key.description}`);
  return key.unwrap(wrapped);
}

function dataKey(key: Buffer): DataKey {
  return {
    seal: (text, about) => seal(key, Buffer.from(text as string), about),
    open: (sealed, about) => openSealed(key, sealed, about),
    openText: (sealed, about) => openSealed(key, sealed, about).toString("utf8"),
  };
}
