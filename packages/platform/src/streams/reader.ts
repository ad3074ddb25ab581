// Ends a stream whose reader may not read it any more: keys end, members leave, agents are shared otherwise.
import { ApiProblem } from "../http/index.ts";
import type { Principal } from "../principals/index.ts";

export interface Reader {
  agentId: string;
  /** Who the request would be from now. Throws ApiProblem where it would be refused. */
  whoAsks(): Promise<Principal>;
  /** Throws ApiProblem where the principal may not read the agent. */
  checkReader(principal: Principal, agentId: string): Promise<void>;
}

const lookMs = 5_000;

/** Looks until it is stopped. */
export function watchReader(reader: Reader, end: () => void): { stop(): void } {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    if (!(await mayStillRead(reader))) end();
    isLooking = false;
  };
  const looking = setInterval(() => void look(), lookMs);
  return { stop: () => clearInterval(looking) };
}

/** A database or a host that cannot be asked says nothing against anybody; the next look asks again. */
async function mayStillRead({ agentId, whoAsks, checkReader }: Reader): Promise<boolean> {
  try {
    await checkReader(await whoAsks(), agentId);
    return true;
  } catch (error) {
    return !(error instanceof ApiProblem) || error.status >= 500;
  }
}
