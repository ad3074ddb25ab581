// Who may connect over a network: everyone, holders of a token, or holders of a token signed with a shared secret.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Invocation } from "@agentcli/command-line";
import { CommandError } from "@agentcli/command-line";

/** Why a bearer token is refused; null if it is accepted. */
export type Access = (bearer: string | null) => string | null;

const fewestSecretBytes = 32;

/** Null: no authentication is configured. */
export function readAccess(invocation: Invocation): Access | null {
  const kind = invocation.text("ws-auth");
  if (kind === "capability-token") return capabilityAccess(tokenHash(invocation));
  if (kind === "signed-bearer-token") return signedAccess(signedOptions(invocation));
  const idle = authFlags.find((flag) => invocation.text(flag) !== undefined);
  if (idle) throw new CommandError("usage", `--${idle} needs --ws-auth.`);
  return null;
}

const authFlags: string[] = ["ws-token-file", "ws-token-sha256", "ws-shared-secret-file", "ws-issuer", "ws-audience"];

export function capabilityAccess(hash: Buffer): Access {
  return (bearer) => {
    if (bearer === null) return "missing bearer token";
    return timingSafeEqual(sha256(bearer), hash) ? null : "invalid bearer token";
  };
}

export interface SignedOptions {
  secret: Buffer;
  issuer?: string;
  audience?: string;
  clockSkewSeconds: number;
}

/** A JWT with HMAC-SHA256. No other: the token's `alg` does not select the algorithm. */
export function signedAccess(options: SignedOptions): Access {
  return (bearer) => {
    if (bearer === null) return "missing bearer token";
    const [header = "", payload = "", signature = "", ...rest] = bearer.split(".");
    const expected = createHmac("sha256", options.secret).update(`${header}.${payload}`).digest();
    const given = Buffer.from(signature, "base64url");
    const isSigned = rest.length === 0 && given.length === expected.length && timingSafeEqual(given, expected);
    if (!isSigned || decode(header)?.alg !== "HS256") return "invalid bearer token";
    return refusalOfClaims(decode(payload), options, Date.now() / 1000);
  };
}

function refusalOfClaims(claims: Record<string, unknown> | null, options: SignedOptions, now: number): string | null {
  const { clockSkewSeconds: skew, issuer, audience } = options;
  if (claims === null || typeof claims.exp !== "number") return "bearer token without an expiry";
  if (claims.exp + skew < now) return "expired bearer token";
  if (claims.nbf !== undefined && !(typeof claims.nbf === "number" && claims.nbf - skew <= now))
    return "bearer token not valid yet";
  if (issuer !== undefined && claims.iss !== issuer) return "bearer token of another issuer";
  if (audience !== undefined && ![claims.aud].flat().includes(audience)) return "bearer token for another audience";
  return null;
}

function tokenHash(invocation: Invocation): Buffer {
  const file = invocation.text("ws-token-file");
  const hex = invocation.text("ws-token-sha256");
  if ((file === undefined) === (hex === undefined))
    throw new CommandError(
      "usage",
      "--ws-auth capability-token needs one of --ws-token-file FILE and --ws-token-sha256 HEX.",
    );
  if (hex !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(hex))
      throw new CommandError("usage", "--ws-token-sha256: write 64 hexadecimal digits.");
    return Buffer.from(hex, "hex");
  }
  const token = readSecret("ws-token-file", file ?? "")
    .toString()
    .trim();
  if (token === "")
    throw new CommandError("usage", `--ws-token-file ${file}: the file is empty; put the token into it.`);
  return sha256(token);
}

function signedOptions(invocation: Invocation): SignedOptions {
  const file = invocation.text("ws-shared-secret-file");
  if (file === undefined)
    throw new CommandError("usage", "--ws-auth signed-bearer-token needs --ws-shared-secret-file FILE.");
  const secret = Buffer.from(readSecret("ws-shared-secret-file", file).toString().trim());
  if (secret.length < fewestSecretBytes)
    throw new CommandError(
      "usage",
      `--ws-shared-secret-file ${file}: the secret must have at least ${fewestSecretBytes} bytes.`,
    );
  const skew = invocation.text("ws-max-clock-skew-seconds") ?? "30";
  if (!/^\d+$/.test(skew))
    throw new CommandError("usage", `--ws-max-clock-skew-seconds ${skew}: write a number of seconds.`);
  return {
    secret,
    issuer: invocation.text("ws-issuer"),
    audience: invocation.text("ws-audience"),
    clockSkewSeconds: Number(skew),
  };
}

function readSecret(flag: string, file: string): Buffer {
  if (!isAbsolute(file)) throw new CommandError("usage", `--${flag} ${file}: the path must be absolute.`);
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError("usage", `--${flag} ${file}: it cannot be read: ${(error as Error).message}.`);
  }
}

function decode(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
