// Agents and runs as they are kept, told apart and shown.
import type { LocalAgentInfo } from "../agent-calls.ts";
import type { LocalAgentRecord, LocalRunRecord } from "../local-store.ts";

export const isUnderWay = ({ status }: LocalRunRecord): boolean => status === "CREATING" || status === "RUNNING";

export function infoOf(agent: LocalAgentRecord, runs: LocalRunRecord[]): LocalAgentInfo {
  const { agentId, name, cwd, createdAt, updatedAt, latestRunId, isArchived } = agent;
  const status = isArchived ? "archived" : runs.some(isUnderWay) ? "active" : "idle";
  return {
    ...{ agentId, runtime: "local", status, name, cwd, createdAt, updatedAt },
    ...(latestRunId !== undefined && { latestRunId }),
  };
}

const longestName = 80;

/** For people: the first line of the first prompt. */
export function nameFrom(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > longestName ? `${line.slice(0, longestName - 1)}…` : line || "Untitled";
}
