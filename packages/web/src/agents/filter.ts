// Which agents a list shows. It is part of the address, so that a list can be sent to a colleague.
import type { AgentOverview } from "@agentcli/protocol/api";
import { repositoryName } from "../text/format.ts";

export interface AgentFilter {
  q?: string;
  group?: AgentOverview["group"];
  repository?: string;
  owner?: "me";
  archived?: true;
  sdk?: true;
}

const groups = ["needs_you", "running", "finished"] as const;

export function readFilter(search: Record<string, unknown>): AgentFilter {
  const text = (name: string): string | undefined => {
    const value = search[name];
    return value === undefined || value === "" ? undefined : String(value);
  };
  const group = groups.find((one) => one === search.group);
  const [q, repository] = [text("q"), text("repository")];
  return {
    ...(q !== undefined && { q }),
    ...(group && { group }),
    ...(repository !== undefined && { repository }),
    ...(search.owner === "me" && { owner: "me" as const }),
    ...((search.archived === true || search.archived === "true") && { archived: true as const }),
    ...((search.sdk === true || search.sdk === "true") && { sdk: true as const }),
  };
}

/** Every word has to occur somewhere in what the list shows of the agent. */
export function matches(agent: AgentOverview, { q = "", group, repository, owner }: AgentFilter): boolean {
  if (group !== undefined && agent.group !== group) return false;
  if (owner === "me" && !agent.owner.isCaller) return false;
  const repositories = (agent.repos ?? []).map(({ url }) => repositoryName(url));
  if (repository !== undefined && !repositories.includes(repository)) return false;
  const text = [agent.name ?? "", agent.id, agent.branch ?? "", agent.owner.name, ...repositories]
    .join("\n")
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
