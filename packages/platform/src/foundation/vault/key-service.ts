// A service that keeps the key-encryption key and never shows it: what wraps and unwraps is a request to it.
import { setTimeout as pause } from "node:timers/promises";
import { VaultError } from "./vault-error.ts";

/** What a text is for; one that was encrypted for something else does not decrypt. */
export type Purpose = "data key" | "authentication key";

export interface KeyService {
  /** For people: which key of which service. */
  description: string;
  /** The key itself, wherever its service is reached: two keys never have the same. */
  identity: string;
  /** These three throw KeyServiceFault where the service does not do it. */
  encrypt(text: Buffer, purpose: Purpose): Promise<Buffer>;
  /** Throws Unsealable for what was changed, or encrypted with another key or for another purpose. */
  decrypt(encrypted: Buffer, purpose: Purpose): Promise<Buffer>;
  /** The same text under the newest version of the key. */
  rewrap(encrypted: Buffer, purpose: Purpose): Promise<Buffer>;
}

type Reason = "unreachable" | "throttled" | "denied" | "failed";

/** The service did not answer, or refused. */
export class KeyServiceFault extends VaultError {
  override name = "KeyServiceFault";
  readonly code = "key_service_unavailable";
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(`key_service_unavailable: ${message}`, options);
    this.reason = reason;
  }
}

/** How one attempt ended. */
export type Attempt =
  | { kind: "answered"; body: unknown }
  /** Another attempt may succeed. */
  | { kind: "busy"; reason: "throttled" | "failed"; what: string };

export interface RetryOptions {
  /** Of one attempt. */
  timeoutMs: number;
  /** Before the second attempt, and each later one. */
  pausesMs: number[];
}

export const defaultRetry: RetryOptions = { timeoutMs: 5_000, pausesMs: [100, 400, 1_500] };

/** Attempts until there is an answer; throws KeyServiceFault after the last one. Any other error of an attempt is final. */
export async function askKeyService(
  description: string,
  { timeoutMs, pausesMs }: RetryOptions,
  attempt: (signal: AbortSignal) => Promise<Attempt>,
): Promise<unknown> {
  for (let count = 0; ; count += 1) {
    const result = await attempt(AbortSignal.timeout(timeoutMs)).catch(toUnreachable);
    if (result.kind === "answered") return result.body;
    const pauseMs = pausesMs[count];
    if (pauseMs === undefined) throw faultOf(result, description);
    await pause(pauseMs);
  }
}

interface Unreachable {
  kind: "unreachable";
  error: Error;
}

/** What is not an answer of the service is an error of the connection, or a timeout. */
function toUnreachable(error: unknown): Unreachable {
  const { name } = error as Error;
  if (name !== "TypeError" && name !== "TimeoutError" && name !== "AbortError") throw error;
  return { kind: "unreachable", error: error as Error };
}

/** Codes of OpenSSL. */
const untrusted = new Set([
  ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ...["UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
]);

function faultOf(result: Exclude<Attempt, { kind: "answered" }> | Unreachable, description: string): KeyServiceFault {
  if (result.kind === "unreachable") {
    const { message, cause } = result.error;
    const what = cause instanceof Error && cause.message !== "" ? cause.message : message;
    const remedy = untrusted.has(String(memberOf(cause, "code")))
      ? "This server does not trust the authority of its certificate: name the file of it in NODE_EXTRA_CA_CERTS."
      : "Check kms.endpoint and the network.";
    return new KeyServiceFault("unreachable", `${description} did not answer: ${what}. ${remedy}`, {
      cause: result.error,
    });
  }
  const remedy =
    result.reason === "throttled"
      ? "Ask for a higher limit of requests, or set kms.cache_seconds higher."
      : "See the log of the service.";
  return new KeyServiceFault(result.reason, `${description} is busy: ${result.what}. ${remedy}`);
}

/** Null for what is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
