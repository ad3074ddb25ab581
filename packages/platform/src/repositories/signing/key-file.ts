// The key that signs commits, in a file that only its owner can read. It is created if it does not exist.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ExitName } from "@agentcli/protocol/exit-codes";
import { readOpenSshKey } from "../ssh/index.ts";
import { type SigningKey, signingKey } from "./ssh-signature.ts";

export class SigningError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "failed";
  override name = "SigningError";
}

export interface SigningKeyOptions {
  path: string;
  /** A configured file must exist; the default file is created. */
  isGiven: boolean;
}

export function openSigningKey({ path, isGiven }: SigningKeyOptions): SigningKey {
  if (!isGiven && statSync(path, { throwIfNoEntry: false }) === undefined) createKeyFile(path);
  return signingKey(readKeyFile(path));
}

function readKeyFile(path: string): KeyObject {
  const text = readText(path);
  if (statSync(path).mode & 0o077)
    throw new SigningError(`The signing key ${path} can be read by others than its owner. Run: chmod 600 ${path}`);
  const key = parseKey(text, path);
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new SigningError(
    `The signing key ${path} is of the kind ${key.asymmetricKeyType}, and must be Ed25519. Make one: ssh-keygen -t ed25519 -N "" -f ${path}`,
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SigningError(`The signing key ${path} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

function parseKey(text: string, path: string): KeyObject {
  try {
    return text.includes("BEGIN OPENSSH PRIVATE KEY") ? readOpenSshKey(text) : createPrivateKey(text);
  } catch (error) {
    throw new SigningError(
      `The signing key ${path} is not a private key without a passphrase: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** Servers that start at the same time end up with the same key. */
function createKeyFile(path: string): void {
  const draft = `${path}.${process.pid}`;
  const { privateKey } = generateKeyPairSync("ed25519");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const text = privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
