// Agents and runs as they are kept, told apart and shown.
import type { LocalAgentInfo, SDKAgentStatus } from "../agent-calls.ts";
import type { LocalAgentRecord, LocalRunRecord } from "../local-store.ts";

export const isUnderWay = ({ status }: LocalRunRecord): boolean => status === "CREATING" || status === "RUNNING";

export function infoOf(agent: LocalAgentRecord, runs: LocalRunRecord[]): LocalAgentInfo {
  const { agentId, name, cwd, createdAt, updatedAt, latestRunId, isArchived } = agent;
  return {
    ...{ agentId, runtime: "local", name, summary: name, cwd, archived: isArchived },
    ...(!isArchived && { status: statusOf(runs) }),
    ...{ createdAt: Date.parse(createdAt), lastModified: Date.parse(updatedAt) },
    ...(latestRunId !== undefined && { latestRunId }),
  };
}

function statusOf(runs: LocalRunRecord[]): SDKAgentStatus {
  if (runs.some(isUnderWay)) return "running";
  const last = runs.at(-1)?.status;
  return last === "ERROR" || last === "EXPIRED" ? "error" : "finished";
}

const maxNameLength = 80;

/** For people: the first line of the first prompt. */
export function nameFrom(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > maxNameLength ? `${line.slice(0, maxNameLength - 1)}…` : line || "Untitled";
}
