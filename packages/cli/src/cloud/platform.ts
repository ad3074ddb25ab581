// What the cloud commands ask of the platform.
import type { Agent, AgentListItem, CreateAgent, RepositoryDiff, Run } from "@agentcli/protocol/api";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { readAccess } from "./access.ts";
import { type Follower, followRun } from "./follow.ts";
import { askJson, readBytes } from "./http.ts";
import { readWhole, type WholeDiff } from "./patch.ts";

export interface CloudPlatform {
  /** Where agents work unless a repository is named; undefined: the repository around the directory. */
  repository: string | undefined;
  createAgent(request: CreateAgent): Promise<{ agent: Agent; run: Run }>;
  listAgents(page: { limit: number; cursor: string | undefined }): Promise<AgentPage>;
  readAgent(agentId: string): Promise<Agent>;
  /** The newest; null before there is one. */
  readLatestRun(agent: AgentListItem): Promise<Run | null>;
  /** Newest first. */
  listRuns(agentId: string): Promise<Run[]>;
  /** Whole patches: the rest of those that the platform has cut is read too. */
  readDiff(agentId: string): Promise<WholeDiff[]>;
  /** Every frame from the first on, until the run has ended. */
  follow(run: Pick<Run, "id" | "agentId">, take: Follower): Promise<void>;
}

interface AgentPage {
  items: AgentListItem[];
  nextCursor?: string;
}

const maxRuns = 100;

export async function openCloud(invocation: Invocation, program: Program): Promise<CloudPlatform> {
  const access = await readAccess(invocation, program);
  const { signal } = program;
  const get = <T>(path: string, expects: string) => askJson<T>(access, { method: "GET", path, expects }, signal);
  return {
    repository: access.repository,
    createAgent: (body) => askJson(access, { method: "POST", path: "/v1/agents", body, expects: "agent" }, signal),
    listAgents({ limit, cursor }) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
      return get(`/v1/agents?${query}`, "items");
    },
    readAgent: (agentId) => get(`/v1/agents/${agentId}`, "id"),
    async readLatestRun({ id, latestRunId }) {
      return latestRunId === undefined ? null : get<Run>(`/v1/agents/${id}/runs/${latestRunId}`, "status");
    },
    listRuns: async (agentId) =>
      (await get<{ items: Run[] }>(`/v1/agents/${agentId}/runs?limit=${maxRuns}`, "items")).items,
    async readDiff(agentId) {
      const { items } = await get<{ items: RepositoryDiff[] }>(`/v1/agents/${agentId}/diff`, "items");
      const whole: WholeDiff[] = [];
      for (const item of items) whole.push(await readWhole(item, (path) => readBytes(access, path, signal)));
      return whole;
    },
    follow: ({ agentId, id }, take) =>
      followRun({ access, path: `/v1/agents/${agentId}/runs/${id}/stream`, take }, signal),
  };
}
