// Signatures as ssh-keygen makes and checks them (PROTOCOL.sshsig), with an Ed25519 key. The same text gets the same one.
import { createHash, createPublicKey, type KeyObject, sign } from "node:crypto";
import { sshString } from "./ssh-strings.ts";

export interface SigningKey {
  /** As in `authorized_keys`: `ssh-ed25519 AAAA…` */
  publicKey: string;
  /** As ssh shows it: `SHA256:…` */
  fingerprint: string;
  /** In armour, without a newline at its end. */
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

/** The last bytes of the usual encoding are the key itself. */
function publicBlob(key: KeyObject): Buffer {
  const encoded = createPublicKey(key).export({ type: "spki", format: "der" });
  return Buffer.concat([sshString(algorithm), sshString(encoded.subarray(-32))]);
}

interface Signer {
  key: KeyObject;
  blob: Buffer;
  /** What the signature is for: one for git is worth nothing elsewhere. */
  namespace: string;
}

export function sshSignature(text: Buffer, { key, blob, namespace }: Signer): string {
  const magic = Buffer.from("SSHSIG");
  const about = [sshString(namespace), sshString(""), sshString("sha512")];
  const digest = createHash("sha512").update(text).digest();
  const signature = sign(null, Buffer.concat([magic, ...about, sshString(digest)]), key);
  const version = Buffer.from([0, 0, 0, 1]);
  const whole = Buffer.concat([
    magic,
    version,
    sshString(blob),
    ...about,
    sshString(Buffer.concat([sshString(algorithm), sshString(signature)])),
  ]);
  const lines = whole.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----"].join("\n");
}
