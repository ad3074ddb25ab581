// How the platform answers what a command asks of the identity socket.
import type { IdentityAnswer } from "@agentcli/protocol/worker-link";
import { identityRequest } from "@agentcli/protocol/worker-link-names";
import type { Link, SocketReply, TokenRequest } from "@agentcli/workspace";

export type IdentityAnswerer = (agent: string, request: TokenRequest) => Promise<SocketReply>;

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

function refusalOf(code: string | undefined): SocketReply {
  if (code === "rate_limited") return { ...failure(429, "rate_limited"), headers: { "retry-after": "2" } };
  return failure(502, code === "disconnected" ? "backend_unreachable" : "backend_error");
}

const failure = (status: number, error: string): SocketReply => ({ status, body: { error } });
