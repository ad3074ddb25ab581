// What an agent leaves behind: files for people, and what it used.
import type { Artifact, AgentUsage as ReportedUsage } from "@agentcli/protocol/api";
import type { Connection } from "./connection.ts";

export type { Artifact };

export type RunUsage = ReportedUsage["runs"][number] & { runId: string };

/** As the platform reports it, with the names that a run has here. */
export interface AgentUsage extends ReportedUsage {
  /** The same as totalUsage. */
  usage: ReportedUsage["totalUsage"];
  /** Newest first. */
  runs: RunUsage[];
}

export const usageFrom = ({ totalUsage, runs, ...more }: ReportedUsage): AgentUsage => ({
  ...more,
  ...{ totalUsage, usage: totalUsage },
  runs: runs.map((run) => ({ ...run, runId: run.id })),
});

export async function listArtifacts(connection: Connection, agentId: string, signal: AbortSignal): Promise<Artifact[]> {
  const path = `/v1/agents/${agentId}/artifacts`;
  return (await connection.ask<{ items: Artifact[] }>({ operation: "artifacts.list", method: "GET", path }, signal))
    .items;
}

/** The link may lead to another server, so the key is not sent along. */
export async function downloadArtifact(
  connection: Connection,
  { agentId, path }: { agentId: string; path: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const operation = "artifacts.download";
  const request = {
    operation,
    method: "GET",
    path: `/v1/agents/${agentId}/artifacts/download`,
    query: { path },
  } as const;
  const { url } = await connection.ask<{ url: string }>(request, signal);
  return connection.download(url, operation, signal);
}

export async function readUsage(
  connection: Connection,
  { agentId, runId }: { agentId: string; runId?: string | undefined },
  signal: AbortSignal,
): Promise<AgentUsage> {
  const request = {
    operation: "usage.read",
    method: "GET",
    path: `/v1/agents/${agentId}/usage`,
    query: { runId },
  } as const;
  return usageFrom(await connection.ask<ReportedUsage>(request, signal));
}
