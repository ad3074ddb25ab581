// The key-encryption key in a file that only its owner can read.
import { createHmac, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { authenticator } from "./authenticate.ts";
import { keyBytes, openSealed, seal } from "./cipher.ts";
import type { KeyEncryption } from "./vault.ts";
import { VaultError } from "./vault-error.ts";

/** Null where there is no such file. */
export function readKeyFile(path: string): KeyEncryption | null {
  const text = readIfThere(path);
  if (text === null) return null;
  const { mode } = statSync(path);
  if (mode & 0o077)
    throw new VaultError(`The key file ${path} can be read by others than its owner. Run: chmod 600 ${path}`);
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== keyBytes)
    throw new VaultError(`The key file ${path} must hold ${keyBytes} bytes in base64, and does not. Restore it.`);
  return encryptionWith(key, path);
}

/** Servers that do so at once end up with the same key. */
export const makeKeyFile = (path: string): void => keep(path, `${randomBytes(keyBytes).toString("base64")}\n`);

/** From a backup. A file that is there stays. */
export const restoreKeyFile = (path: string, content: Buffer): void => keep(path, content);

function keep(path: string, content: string | Buffer): void {
  const draft = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, content, { mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

const wrapping = "data key";

function encryptionWith(key: Buffer, path: string): KeyEncryption {
  const codeOf = authenticator(key);
  return {
    description: `the key file ${path}`,
    authenticationKey: null,
    fingerprint: createHmac("sha256", key).update("fingerprint of a key-encryption key").digest("hex").slice(0, 32),
    wrap: async (dataKey) => seal(key, dataKey, wrapping),
    unwrap: async (wrapped) => openSealed(key, wrapped, wrapping),
    authenticate: async (text, about) => codeOf(text, about),
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new VaultError(`The key file ${path} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
