// What an agent may know of itself, as paths and their values. Pure.
import type { AgentFacts } from "./token.ts";

/** What is not known is left out. */
export function metadataOf(facts: AgentFacts, name: string): Map<string, string> {
  const { userId, serviceAccountId, run, repositories } = facts;
  const values: Record<string, string | number | null | undefined> = {
    "agent/id": facts.agentId,
    "agent/name": name,
    "agent/source": facts.source,
    "agent/runtime": facts.runtime,
    "owner/user-id": userId,
    "owner/user-email": facts.userEmail,
    "owner/service-account-id": serviceAccountId,
    "owner/team-id": facts.teamId,
    "turn/id": run?.id,
    "turn/user-id": run?.userId,
    "turn/user-email": run?.userEmail,
    "turn/started-at": run?.startedAt?.toISOString(),
    "turn/model": run?.model,
    "workspace/repo-url": repositories[0],
    "workspace/repo-urls": repositories.length > 0 ? repositories.join("\n") : null,
    "workspace/branch-name": facts.branchName,
    "workspace/environment-id": facts.environmentId,
    "workspace/automation-id": facts.automationId,
  };
  const known = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return new Map(known.map(([key, value]) => [key, String(value)]));
}
