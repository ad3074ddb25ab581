// Reads Ed25519 key files written by ssh-keygen, without a passphrase.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readSsh } from "./ssh-strings.ts";

const magic = "openssh-key-v1\0";
/** The PKCS #8 header before the 32 bytes of an Ed25519 private key. */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Throws if the text is anything else. */
export function readOpenSshKey(text: string): KeyObject {
  const [, body = ""] = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text) ?? [];
  const bytes = Buffer.from(body, "base64");
  if (bytes.subarray(0, magic.length).toString("latin1") !== magic) throw new Error("it is damaged");
  const outer = readSsh(bytes.subarray(magic.length));
  const cipher = outer.string().toString();
  if (cipher !== "none") throw new Error("it has a passphrase");
  // Name and options of the key derivation function, unused without a passphrase.
  outer.string();
  outer.string();
  if (outer.number() !== 1) throw new Error("it is not one key");
  outer.string();
  return innerKey(outer.string());
}

function innerKey(bytes: Buffer): KeyObject {
  const inner = readSsh(bytes);
  const [check, again] = [inner.number(), inner.number()];
  if (check !== again) throw new Error("it is damaged");
  const kind = inner.string().toString();
  if (kind !== "ssh-ed25519") throw new Error(`it is of the kind ${kind}, and must be ssh-ed25519`);
  inner.string();
  const seed = inner.string().subarray(0, 32);
  return createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" });
}
