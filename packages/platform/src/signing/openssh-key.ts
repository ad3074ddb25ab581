// Ed25519 keys in the files that ssh-keygen writes, where they have no passphrase.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readSsh } from "./ssh-strings.ts";

const magic = "openssh-key-v1\0";
/** What stands before the 32 bytes of an Ed25519 key in the encoding that Node reads. */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Throws where it is anything else. */
export function readOpenSshKey(text: string): KeyObject {
  const [, body = ""] = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text) ?? [];
  const bytes = Buffer.from(body, "base64");
  if (bytes.subarray(0, magic.length).toString("latin1") !== magic) throw new Error("it is damaged");
  const outer = readSsh(bytes.subarray(magic.length));
  const cipher = outer.string().toString();
  if (cipher !== "none") throw new Error("it has a passphrase");
  // The name and options of how the passphrase would be used.
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
