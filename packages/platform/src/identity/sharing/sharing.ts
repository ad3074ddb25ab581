// Sharing of agents within a team: applies the rule with the team's setting and the user's access to repositories.

import { type AgentRepository, ApiError, type FollowUps } from "../../foundation/index.ts";
import type { Principal } from "../principals/index.ts";
import type { Reading, RepositoryReading } from "./repository-reading.ts";
import { type AgentAction, acceptsFollowUps, type OwnedAgent, ownerKind, permissionOf, relationOf } from "./rule.ts";

export interface SharedAgent extends OwnedAgent {
  id: string;
  team_id: number;
  settings: { repos: AgentRepository[] };
}

export interface Sharing {
  /** Why the principal, a member of the agent's team, is refused; null if allowed. */
  refusal(principal: Principal, agent: SharedAgent, action: AgentAction): Promise<ApiError | null>;
  /**
   * The agents that the principal may read, among the first `count`. Fewer than all are checked when that would need too
   * many requests to source hosts.
   */
  readable<Agent extends SharedAgent>(principal: Principal, agents: Agent[]): Promise<ReadablePage<Agent>>;
}

export interface ReadablePage<Agent> {
  readable: Agent[];
  count: number;
}

export interface SharingOptions {
  followUpsOf(teamId: number): Promise<FollowUps>;
  reading: RepositoryReading;
  /** A repository URL as shown to users. */
  shown(url: string): string;
  publicUrl(): string;
}

export function openSharing(options: SharingOptions): Sharing {
  const { reading, followUpsOf } = options;
  return {
    async refusal(principal, agent, action) {
      const relation = relationOf(principal, agent);
      const asksTeam = relation !== "owner" && action === "follow_up";
      const accepts = asksTeam && acceptsFollowUps(await followUpsOf(agent.team_id), ownerKind(agent));
      const { kind } = permissionOf(relation, action, accepts);
      if (kind === "allowed") return null;
      // A principal without read access gets that reason and learns nothing else.
      const obstacle = await obstacleIn(checksFor(principal, agent, reading), reading.judge);
      if (obstacle) return toApiError(agent, obstacle, options);
      return kind === "refused" ? new ApiError("forbidden", refusals[action](agent.id)) : null;
    },
    async readable(principal, agents) {
      const within = firstOf(agents, (agent) => checksFor(principal, agent, reading).map(({ url }) => url));
      const judge = once(reading.judge);
      const obstacles = await Promise.all(
        within.map((agent) => obstacleIn(checksFor(principal, agent, reading), judge)),
      );
      return { readable: within.filter((_, index) => obstacles[index] === null), count: within.length };
    },
  };
}

interface RepositoryCheck {
  userId: number;
  url: string;
}

/** The repositories that the principal must be able to read in order to read the agent. */
function checksFor(principal: Principal, agent: SharedAgent, { needsAccount }: RepositoryReading): RepositoryCheck[] {
  if (principal.kind === "service_account" || relationOf(principal, agent) !== "teammate") return [];
  const { userId } = principal;
  return agent.settings.repos.filter(({ url }) => needsAccount(url)).map(({ url }) => ({ userId, url }));
}

/** The first repository that cannot be read. */
async function obstacleIn(
  repositories: RepositoryCheck[],
  judge: RepositoryReading["judge"],
): Promise<Obstacle | null> {
  for (const { userId, url } of repositories) {
    const answer = await judge(userId, url);
    if (answer.kind !== "granted") return { url, reading: answer };
  }
  return null;
}

/** Agents of one page often share a repository. */
function once(judge: RepositoryReading["judge"]): RepositoryReading["judge"] {
  const answers = new Map<string, Promise<Reading>>();
  return (userId, url) => {
    const answer = answers.get(url) ?? judge(userId, url);
    answers.set(url, answer);
    return answer;
  };
}

interface Obstacle {
  url: string;
  reading: Exclude<Reading, { kind: "granted" }>;
}

/** Per page of a list. */
const maxRepositories = 25;

/** At least one, so that paging makes progress. */
function firstOf<Agent>(agents: Agent[], urlsOf: (agent: Agent) => string[]): Agent[] {
  const asked = new Set<string>();
  const end = agents.findIndex((agent, index) => {
    for (const url of urlsOf(agent)) asked.add(url);
    return index > 0 && asked.size > maxRepositories;
  });
  return end < 0 ? agents : agents.slice(0, end);
}

const refusals: Record<AgentAction, (agentId: string) => string> = {
  read: (id) => `Agent ${id} is not shared with you.`,
  follow_up: (id) =>
    `Agent ${id} accepts follow-ups from its owner only. Start an agent of your own, or ask an administrator to turn on team follow-ups.`,
  manage: (id) => `Agent ${id} belongs to another user; you may only read it. Ask its owner or an administrator.`,
};

function toApiError({ id }: SharedAgent, { url, reading }: Obstacle, { shown, publicUrl }: SharingOptions): ApiError {
  const about = `Agent ${id} works on ${shown(url)}`;
  const { host } = reading;
  switch (reading.kind) {
    case "not connected":
      return new ApiError(
        "integration_not_connected",
        `${about}. To see this agent, connect your ${host} account at ${publicUrl()}/accounts.`,
        { members: { helpUrl: `${publicUrl()}/accounts`, provider: "github" } },
      );
    case "denied":
      return new ApiError(
        "forbidden",
        `${about}, which your account ${reading.login} on ${host} may not read. Ask for access to it there.`,
      );
    case "unknown":
      return new ApiError(
        "unavailable",
        `${about}, and ${host} could not confirm that you may read it (${reading.reason}). Try again.`,
      );
  }
}
