// A private key as ssh uses it: its public part in the encoding of ssh, and signatures in the algorithms of servers.
import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { readOpenSshKey } from "./openssh-key.ts";
import { sshInteger, sshString } from "./ssh-strings.ts";

export interface SshKey {
  /** The public key in the encoding of ssh. */
  blob: Buffer;
  /** `SHA256:…` */
  fingerprint: string;
  /** `flags` are those of the agent protocol: they choose the hash of RSA. */
  sign(data: Buffer, flags: number): Buffer;
}

/** Throws an error whose message says what is wrong with the key, and no part of it. */
export function readPrivateKey(text: string): SshKey {
  const key = parse(text);
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return sshKey(ed25519Blob(jwkOf(key)), (data) => signature("ssh-ed25519", sign(null, data, key)));
    case "rsa":
      return sshKey(rsaBlob(jwkOf(key)), (data, flags) => rsaSignature(key, data, flags));
    case "ec":
      return ecdsaKey(key);
    default:
      throw new Error(`the key is of the kind ${key.asymmetricKeyType}, and must be Ed25519, ECDSA or RSA`);
  }
}

export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;

function parse(text: string): KeyObject {
  if (text.includes("BEGIN OPENSSH PRIVATE KEY")) return readOpenSshKey(text);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new Error("it is not a private key in PEM or OpenSSH format");
  if (text.includes("ENCRYPTED")) throw new Error("it has a passphrase");
  try {
    return createPrivateKey(text);
  } catch {
    // The message of the library could quote the text.
    throw new Error("it is damaged");
  }
}

const sshKey = (blob: Buffer, signWith: SshKey["sign"]): SshKey => ({
  blob,
  fingerprint: fingerprintOf(blob),
  sign: signWith,
});

const jwkOf = (key: KeyObject): JsonWebKey => createPublicKey(key).export({ format: "jwk" });
const bytesOf = (text: string | undefined): Buffer => Buffer.from(text ?? "", "base64url");
const signature = (algorithm: string, bytes: Buffer): Buffer => Buffer.concat([sshString(algorithm), sshString(bytes)]);

const ed25519Blob = ({ x }: JsonWebKey): Buffer => Buffer.concat([sshString("ssh-ed25519"), sshString(bytesOf(x))]);

const rsaBlob = ({ n, e }: JsonWebKey): Buffer =>
  Buffer.concat([sshString("ssh-rsa"), sshInteger(bytesOf(e)), sshInteger(bytesOf(n))]);

const rsaSha512 = 4;

/** Never with SHA-1, which servers no longer accept. */
function rsaSignature(key: KeyObject, data: Buffer, flags: number): Buffer {
  const bits = flags & rsaSha512 ? "512" : "256";
  return signature(`rsa-sha2-${bits}`, sign(`sha${bits}`, data, key));
}

const curves: Record<string, { name: string; hash: string }> = {
  "P-256": { name: "nistp256", hash: "sha256" },
  "P-384": { name: "nistp384", hash: "sha384" },
  "P-521": { name: "nistp521", hash: "sha512" },
};

function ecdsaKey(key: KeyObject): SshKey {
  const { crv = "", x, y } = jwkOf(key);
  const curve = curves[crv];
  if (curve === undefined) throw new Error(`it is on the curve ${crv}, which ssh does not use`);
  const algorithm = `ecdsa-sha2-${curve.name}`;
  const point = Buffer.concat([Buffer.of(4), bytesOf(x), bytesOf(y)]);
  const blob = Buffer.concat([sshString(algorithm), sshString(curve.name), sshString(point)]);
  return sshKey(blob, (data) => {
    const raw = sign(curve.hash, data, { key, dsaEncoding: "ieee-p1363" });
    const [r, s] = [raw.subarray(0, raw.length / 2), raw.subarray(raw.length / 2)];
    return signature(algorithm, Buffer.concat([sshInteger(r), sshInteger(s)]));
  });
}
