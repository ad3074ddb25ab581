// Answers the socket in a machine of this server: tokens and metadata of the agent that it belongs to, while a run of it is active.
import type { IdentityAnswer, IdentityRequest } from "@agentcli/protocol/worker-link";
import type { AgentSocketService, SocketReply } from "@agentcli/workspace";
import type { ServerContext } from "../foundation/index.ts";
import { openBuckets } from "./bucket.ts";
import { readFacts } from "./facts.ts";
import { metadataOf } from "./metadata.ts";
import type { AgentFacts } from "./token.ts";

export interface AgentOnServer {
  id: string;
  name: string;
  environmentId: string | null;
}

/** Throws an error with a code for the one who asks. */
export type Mint = (facts: AgentFacts, request: Omit<IdentityRequest, "agent">) => Promise<IdentityAnswer>;

export type ServeIdentity = (agent: AgentOnServer) => AgentSocketService;

const metadataLimit = { burst: 20, perMinute: 120 };

export function openSocketServices({ db }: Pick<ServerContext, "db">, mint: Mint, now: () => number): ServeIdentity {
  const buckets = openBuckets(metadataLimit, now);
  return ({ id, name, environmentId }) => {
    const facts = () => readFacts(db, id, { runtime: "managed", environmentId });
    return {
      async token(request) {
        const known = await facts();
        if (known === undefined) return refusal(502, "backend_error");
        try {
          const { token, expiresAt } = await mint(known, request);
          return { status: 200, body: { token, expires_at: expiresAt } };
        } catch (error) {
          const { code, retryAfter = 1 } = error as { code?: string; retryAfter?: number };
          if (code !== "rate_limited") throw error;
          return rateLimited(retryAfter);
        }
      },
      async metadata() {
        const waitSeconds = buckets.take(id);
        if (waitSeconds > 0) return rateLimited(waitSeconds);
        const known = await facts();
        return known === undefined ? refusal(502, "backend_error") : metadataOf(known, name);
      },
    };
  };
}

const refusal = (status: number, error: string): SocketReply => ({ status, body: { error } });

const rateLimited = (seconds: number): SocketReply => ({
  ...refusal(429, "rate_limited"),
  headers: { "retry-after": String(seconds) },
});
