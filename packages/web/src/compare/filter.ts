// Which agents are compared, as the address says: every member of the team can open it.
import { maxAttempts } from "../agents/attempt-limit.ts";

export interface Compared {
  agents?: string;
}

export const readComparedAgents = ({ agents }: Record<string, unknown>): Compared =>
  typeof agents === "string" && agents !== "" ? { agents } : {};

const agentId = /^bc-[0-9a-f-]{36}$/i;

export const idsOf = ({ agents = "" }: Compared): string[] =>
  [...new Set(agents.split(",").filter((id) => agentId.test(id)))].slice(0, maxAttempts);
