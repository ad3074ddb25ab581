// Ends a stream whose reader lost access: keys expire, members leave, sharing of agents changes.
import { ApiError } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { FindReadableAgent } from "../agent-reader.ts";

export interface Reader {
  agentId: string;
  /** Authenticates the request again. Throws ApiError if it would be refused now. */
  authenticate(): Promise<Principal>;
  /** Throws ApiError if the principal may not read the agent. */
  findAgent: FindReadableAgent;
}

const checkIntervalMs = 5_000;

/** Checks periodically until stopped. */
export function watchReader(reader: Reader, end: () => void): { stop(): void } {
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    if (!(await mayStillRead(reader))) end();
    isChecking = false;
  };
  const timer = setInterval(() => void check(), checkIntervalMs);
  return { stop: () => clearInterval(timer) };
}

/** An unreachable database or host does not revoke access; the next check tries again. */
async function mayStillRead({ agentId, authenticate, findAgent }: Reader): Promise<boolean> {
  try {
    await findAgent(await authenticate(), agentId);
    return true;
  } catch (error) {
    return !(error instanceof ApiError) || error.status >= 500;
  }
}
