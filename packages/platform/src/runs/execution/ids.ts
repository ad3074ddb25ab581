// Ids created during a run.
import { randomUUID } from "node:crypto";

export const newId = (): string => randomUUID();

/** The conversation of an agent is one thread. */
export const threadOf = (agentId: string): string => agentId;
