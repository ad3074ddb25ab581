// Proves that a request was forwarded by a server of the same database: a header that only a holder of their key can make.
// It gives no access: the request carries the credential of its client, which the other server checks as its own.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const proofHeader = "x-platform-forwarded";

export interface ForwardedRequest {
  /** The server that it came to first. */
  from: string;
  /** As that server counted it. */
  clientAddress: string;
}

interface Proof extends ForwardedRequest {
  to: string;
  expiresAtMs: number;
  /** Two requests that are alike have different proofs. */
  id: string;
}

/** Clocks of servers come from the database; a forwarded request arrives at once. */
const lifeMs = 60_000;

export interface ProofContext {
  key: Buffer;
  /** By the clock of the database. */
  now(): Date;
}

/** The value of the header for this request, which it is bound to. */
export function writeProof(
  { key, now }: ProofContext,
  request: IncomingMessage,
  { from, to, clientAddress }: ForwardedRequest & { to: string },
): string {
  const proof: Proof = { from, to, clientAddress, expiresAtMs: now().getTime() + lifeMs, id: randomUUID() };
  const text = Buffer.from(JSON.stringify(proof)).toString("base64url");
  return `${text}.${codeOf(key, text, request).toString("base64url")}`;
}

/** Null for a request that has none; "invalid" for one that is forged, expired, of another request or for another server. */
export function readProof(
  { key, now }: ProofContext,
  request: IncomingMessage,
  to: string,
): ForwardedRequest | null | "invalid" {
  const header = request.headers[proofHeader];
  if (header === undefined) return null;
  const [text = "", code = ""] = String(header).split(".");
  const expected = codeOf(key, text, request);
  const given = Buffer.from(code, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "invalid";
  const proof = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Proof;
  if (proof.to !== to || proof.expiresAtMs < now().getTime()) return "invalid";
  return { from: proof.from, clientAddress: proof.clientAddress };
}

function codeOf(key: Buffer, text: string, { method, url, headers }: IncomingMessage): Buffer {
  const bound = JSON.stringify([text, method, url, headers.host, headers.authorization, headers.cookie]);
  return createHmac("sha256", key).update(bound).digest();
}
