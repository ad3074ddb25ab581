// Reads key files written by ssh-keygen, without a passphrase.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readSsh, type SshReader } from "./ssh-strings.ts";

const magic = "openssh-key-v1\0";

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
  switch (kind) {
    case "ssh-ed25519":
      return ed25519Key(inner);
    case "ssh-rsa":
      return rsaKey(inner);
    case "ecdsa-sha2-nistp256":
    case "ecdsa-sha2-nistp384":
    case "ecdsa-sha2-nistp521":
      return ecdsaKey(inner);
    default:
      throw new Error(`the key is of the kind ${kind.slice(0, 60)}, which is not supported`);
  }
}

const fromJwk = (key: Record<string, string>): KeyObject => createPrivateKey({ key, format: "jwk" });

function ed25519Key(inner: SshReader): KeyObject {
  const x = inner.string();
  const seed = inner.string().subarray(0, 32);
  return fromJwk({ kty: "OKP", crv: "Ed25519", x: x.toString("base64url"), d: seed.toString("base64url") });
}

function rsaKey(inner: SshReader): KeyObject {
  const integers = Array.from({ length: 6 }, () => toInteger(inner.string()));
  const [n = 0n, e = 0n, d = 0n, qi = 0n, p = 0n, q = 0n] = integers;
  if (p < 2n || q < 2n) throw new Error("it is damaged");
  const members = { n, e, d, p, q, qi, dp: d % (p - 1n), dq: d % (q - 1n) };
  const texts = Object.entries(members).map(([name, value]) => [name, integerText(value)]);
  return fromJwk({ kty: "RSA", ...Object.fromEntries(texts) });
}

const curves: Record<string, { crv: string; bytes: number }> = {
  nistp256: { crv: "P-256", bytes: 32 },
  nistp384: { crv: "P-384", bytes: 48 },
  nistp521: { crv: "P-521", bytes: 66 },
};

function ecdsaKey(inner: SshReader): KeyObject {
  const curve = curves[inner.string().toString()];
  const point = inner.string();
  const secret = toInteger(inner.string());
  if (curve === undefined || point.length !== 1 + 2 * curve.bytes) throw new Error("it is damaged");
  const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
  const d = Buffer.from(secret.toString(16).padStart(2 * curve.bytes, "0"), "hex");
  const texts = { x: x.toString("base64url"), y: y.toString("base64url"), d: d.toString("base64url") };
  return fromJwk({ kty: "EC", crv: curve.crv, ...texts });
}

const toInteger = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString("hex") || "0"}`);

function integerText(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString("base64url");
}
