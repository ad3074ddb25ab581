// Reads the agent of a route below /v1/agents/{id}. The agents group implements it; runs only calls it.
import type { Principal } from "../identity/index.ts";

export interface ReadableAgent {
  id: string;
  /** Wrapped; the vault unwraps it. */
  data_key: Buffer;
}

/** Throws ApiError if the agent does not exist or the principal may not read it. */
export type FindReadableAgent = (principal: Principal, agentId: string) => Promise<ReadableAgent>;
