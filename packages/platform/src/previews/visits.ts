// Whether a visitor of a preview may still see it: keys are revoked, sessions end, users are removed.
import type { Writable } from "node:stream";
import { ApiError, type Principal } from "../foundation/index.ts";
import type { Principals, Sessions } from "../identity/index.ts";
import type { PassHolder } from "./passes.ts";

export interface VisitHost {
  principals: Pick<Principals, "authenticate" | "find">;
  sessions: Pick<Sessions, "findUser">;
  /** Throws ApiError unless the principal owns the agent. */
  findOwned(principal: Principal, agentId: string): Promise<{ id: string }>;
}

export interface Visit {
  /** Throws ApiError if the visitor may not see the preview, or not any more. */
  check(): Promise<Principal>;
}

/** A page asks for many things at once. */
const recentMs = 1_000;
const checkIntervalMs = 5_000;

export function openVisits(host: VisitHost) {
  const recent = new WeakMap<PassHolder, { until: number; checked: Promise<Principal> }>();
  return {
    withPass: (holder: PassHolder): Visit => ({
      check() {
        const known = recent.get(holder);
        if (known && Date.now() < known.until) return known.checked;
        const checked = checkHolder(host, holder);
        recent.set(holder, { until: Date.now() + recentMs, checked });
        return checked;
      },
    }),
    withKey: (authorization: string | undefined, { agentId }: { agentId: string }): Visit => ({
      async check() {
        const authentication = await host.principals.authenticate(authorization);
        if (authentication.kind === "refused") throw notOwner();
        await host.findOwned(authentication.principal, agentId);
        return authentication.principal;
      },
    }),
    /** Checks from time to time, until the response or the connection ends. */
    whenLost(visit: Visit, until: Pick<Writable, "once">): AbortSignal {
      const lost = new AbortController();
      const timer = setInterval(() => {
        visit.check().catch((error: unknown) => {
          // An unreachable database does not revoke access; the next check tries again.
          if (error instanceof ApiError && error.status < 500) lost.abort();
        });
      }, checkIntervalMs);
      until.once("close", () => clearInterval(timer));
      return lost.signal;
    },
  };
}

async function checkHolder({ principals, sessions, findOwned }: VisitHost, { agentId, principal }: PassHolder) {
  const current = (await principals.find(principal.keyId)) ?? (await sessions.findUser(principal.keyId));
  if (current === null) throw notOwner();
  await findOwned(current, agentId);
  return current;
}

const notOwner = (): ApiError =>
  new ApiError("unauthorized", "Previews are for the owner of the agent. Open it from the page of the agent.");
