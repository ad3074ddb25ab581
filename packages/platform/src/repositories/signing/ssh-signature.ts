// Signatures in the format of ssh-keygen (PROTOCOL.sshsig) with an Ed25519 key. Deterministic: the same text gets the same signature.
import { createHash, createPublicKey, type KeyObject, sign } from "node:crypto";
import { sshString } from "../ssh/index.ts";

export interface SigningKey {
  /** In the format of `authorized_keys`: `ssh-ed25519 AAAA…` */
  publicKey: string;
  /** In the format of ssh: `SHA256:…` */
  fingerprint: string;
  /** Armored, without a trailing newline. */
  sign(text: Buffer): string;
}

const algorithm = "ssh-ed25519";

export function signingKey(key: KeyObject): SigningKey {
  const blob = publicBlob(key);
  return {
    publicKey: `${algorithm} ${blob.toString("base64")}`,
    fingerprint: `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`,
    sign: (text) => sshSignature(text, { key, blob, namespace: "git" }),
  };
}

/** The last 32 bytes of the SPKI encoding are the raw key. */
function publicBlob(key: KeyObject): Buffer {
  const encoded = createPublicKey(key).export({ type: "spki", format: "der" });
  return Buffer.concat([sshString(algorithm), sshString(encoded.subarray(-32))]);
}

interface Signer {
  key: KeyObject;
  blob: Buffer;
  /** The purpose of the signature: one for git is not valid for other purposes. */
  namespace: string;
}

export function sshSignature(text: Buffer, { key, blob, namespace }: Signer): string {
  const magic = Buffer.from("SSHSIG");
  const parameters = [sshString(namespace), sshString(""), sshString("sha512")];
  const digest = createHash("sha512").update(text).digest();
  const signature = sign(null, Buffer.concat([magic, ...parameters, sshString(digest)]), key);
  const version = Buffer.from([0, 0, 0, 1]);
  const envelope = Buffer.concat([
    magic,
    version,
    sshString(blob),
    ...parameters,
    sshString(Buffer.concat([sshString(algorithm), sshString(signature)])),
  ]);
  const lines = envelope.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----"].join("\n");
}
