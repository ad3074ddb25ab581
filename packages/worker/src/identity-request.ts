// What a command may ask of the identity socket, and how the platform answers it.
import type { IdentityAnswer } from "@agentcli/protocol/worker-link";
import { identityRequest } from "@agentcli/protocol/worker-link-names";
import type { Link } from "@agentcli/workspace";

export interface TokenRequest {
  aud: string;
  nonce?: string;
  subClaim?: "team_id";
}

export interface IdentityReply {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

export type IdentityAnswerer = (agent: string, request: TokenRequest) => Promise<IdentityReply>;

const maxLength = 512;

/** Members that are not known are left out. */
export function readTokenRequest(text: string): TokenRequest | { error: string } {
  const body = parse(text);
  if (body === null) return { error: "invalid_json" };
  const { aud, nonce, sub_claim } = body;
  if (typeof aud !== "string" || !/^[ -~]+$/.test(aud) || aud.length > maxLength) return { error: "invalid_aud" };
  if (nonce !== undefined && (typeof nonce !== "string" || nonce.length > maxLength)) return { error: "invalid_nonce" };
  if (sub_claim !== undefined && sub_claim !== "team_id") return { error: "invalid_sub_claim" };
  return { aud, ...(nonce !== undefined && { nonce }), ...(sub_claim !== undefined && { subClaim: sub_claim }) };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const answerTimeoutMs = 15_000;

/** Asks the platform over the connection that there is. */
export const askPlatform =
  (link: () => Link | null): IdentityAnswerer =>
  async (agent, request) => {
    const current = link();
    if (current === null) return failure(502, "backend_unreachable");
    const late = new Promise<"late">((resolve) => {
      setTimeout(resolve, answerTimeoutMs, "late").unref();
    });
    try {
      const answered = await Promise.race([current.request(identityRequest, { agent, ...request }), late]);
      if (answered === "late") return failure(504, "backend_unreachable");
      answered.stream.destroy();
      const { token, expiresAt } = answered.reply as IdentityAnswer;
      return { status: 200, body: { token, expires_at: expiresAt } };
    } catch (error) {
      return refusalOf((error as { code?: string }).code);
    }
  };

function refusalOf(code: string | undefined): IdentityReply {
  if (code === "rate_limited") return { ...failure(429, "rate_limited"), headers: { "retry-after": "2" } };
  return failure(502, code === "disconnected" ? "backend_unreachable" : "backend_error");
}

const failure = (status: number, error: string): IdentityReply => ({ status, body: { error } });
