// Who may connect: holders of a token, holders of a token signed with a shared secret, or with `none` every local process.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Invocation } from "@agentcli/command-line";
import { CommandError } from "@agentcli/command-line";
import { onlyUserCanChange } from "@agentcli/workspace";
import { type Address, isLoopback } from "./address.ts";
import { openTokenFile } from "./token-file.ts";

/** Why a bearer token is refused; null if it is accepted. */
export type Access = (bearer: string | null) => string | null;

const fewestSecretBytes = 32;

export interface ConfiguredAccess {
  /** Null: no token is needed. */
  check: Access | null;
  /** For standard error. */
  notes: string[];
}

/** A port needs a token unless `--ws-auth none` says otherwise. A socket file is open to its owner alone. */
export function readAccess(invocation: Invocation, address: Address, agentHome: string): ConfiguredAccess {
  const kind = invocation.text("ws-auth");
  if (kind === "capability-token") return tokenAccess(invocation, agentHome);
  if (kind === "signed-bearer-token")
    return { check: signedAccess(signedOptions(invocation)), notes: readableNotes(invocation) };
  const idle = authFlags.find((flag) => invocation.text(flag) !== undefined);
  if (idle) throw new CommandError("usage", `--${idle} needs --ws-auth capability-token or signed-bearer-token.`);
  if (address.kind !== "tcp") return { check: null, notes: [] };
  if (!isLoopback(address.host)) throw publicAddress(address.host);
  if (kind === undefined) return tokenAccess(invocation, agentHome);
  const note =
    "Warning: --ws-auth none: every user and program of this machine can run commands as you, without a token; " +
    "sandboxed commands that have the network too, if a local proxy or port forwarder passes them on.";
  return { check: null, notes: [note] };
}

const publicAddress = (host: string) =>
  new CommandError(
    "usage",
    `--listen: everyone who can reach ${host} could run commands here. ` +
      "Add --ws-auth capability-token or signed-bearer-token, or listen on 127.0.0.1.",
  );

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

/** Without a given token, one in the agent home, which sandboxed commands cannot read. */
function tokenAccess(invocation: Invocation, agentHome: string): ConfiguredAccess {
  const given = givenTokenHash(invocation);
  if (given !== null) return { check: capabilityAccess(given), notes: readableNotes(invocation) };
  const { path, token } = openTokenFile(agentHome);
  const note = `Clients send the token in ${path} as "Authorization: Bearer TOKEN".`;
  return { check: capabilityAccess(sha256(token)), notes: [note] };
}

/** Other users who can read the secret can run commands. Only a warning: in containers such files are readable by all. */
const readableNotes = (invocation: Invocation): string[] =>
  ["ws-token-file", "ws-shared-secret-file"].flatMap((flag) => {
    const file = invocation.text(flag);
    const isOpen = file !== undefined && (statSync(file).mode & 0o044) !== 0;
    return isOpen
      ? [`Warning: --${flag} ${file} can be read by other users, who can run commands as you. Run: chmod go-r ${file}`]
      : [];
  });

function givenTokenHash(invocation: Invocation): Buffer | null {
  const file = invocation.text("ws-token-file");
  const hex = invocation.text("ws-token-sha256");
  if (file !== undefined && hex !== undefined)
    throw new CommandError("usage", "--ws-token-file and --ws-token-sha256 cannot be used together.");
  if (hex !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(hex))
      throw new CommandError("usage", "--ws-token-sha256: write 64 hexadecimal digits.");
    return Buffer.from(hex, "hex");
  }
  if (file === undefined) return null;
  const token = readSecret("ws-token-file", file).toString().trim();
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
    if (onlyUserCanChange(realpathSync(file))) return readFileSync(file);
  } catch (error) {
    throw new CommandError("usage", `--${flag} ${file}: cannot read the file: ${(error as Error).message}.`);
  }
  throw new CommandError(
    "usage",
    `--${flag} ${file}: other users can change or replace the file, and could then run commands as you. Make it and its directory yours alone to write: chmod go-w.`,
  );
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
