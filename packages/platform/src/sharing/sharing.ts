// Agents of a team for all of it: the rule, held against the team's setting and against who may read the repositories.
import type { Reading, RepositoryReading } from "../accounts/index.ts";
import type { AgentRepository, FollowUps } from "../db/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { Principal } from "../principals/index.ts";
import { type Deed, type OwnedAgent, ownerKind, permissionOf, relationOf, takesFollowUps } from "./rule.ts";

export interface SharedAgent extends OwnedAgent {
  id: string;
  team_id: number;
  settings: { repos: AgentRepository[] };
}

export interface Sharing {
  /** Why the principal, who is of the agent's team, may not, and what to do; null where they may. */
  refusal(principal: Principal, agent: SharedAgent, deed: Deed): Promise<ApiProblem | null>;
  /**
   * Those that the principal may read, out of the first so many. Fewer than all are looked at where hosts would have to
   * be asked about too many repositories at once.
   */
  readable<Agent extends SharedAgent>(principal: Principal, agents: Agent[]): Promise<Looked<Agent>>;
}

export interface Looked<Agent> {
  readable: Agent[];
  count: number;
}

export interface SharingOptions {
  followUpsOf(teamId: number): Promise<FollowUps>;
  reading: RepositoryReading;
  /** A repository as people read it. */
  shown(url: string): string;
  publicUrl(): string;
}

export function openSharing(options: SharingOptions): Sharing {
  const { reading, followUpsOf } = options;
  return {
    async refusal(principal, agent, deed) {
      const relation = relationOf(principal, agent);
      const asksTeam = relation !== "owner" && deed === "follow_up";
      const takes = asksTeam && takesFollowUps(await followUpsOf(agent.team_id), ownerKind(agent));
      const { kind } = permissionOf(relation, deed, takes);
      if (kind === "allowed") return null;
      // Whoever may not even read it is told that, and nothing about the rest.
      const obstacle = await obstacleIn(judgedFor(principal, agent, reading), reading.judge);
      if (obstacle) return problemOf(agent, obstacle, options);
      return kind === "refused" ? new ApiProblem("forbidden", refusals[deed](agent.id)) : null;
    },
    async readable(principal, agents) {
      const within = firstOf(agents, (agent) => judgedFor(principal, agent, reading).map(({ url }) => url));
      const judge = once(reading.judge);
      const obstacles = await Promise.all(
        within.map((agent) => obstacleIn(judgedFor(principal, agent, reading), judge)),
      );
      return { readable: within.filter((_, index) => obstacles[index] === null), count: within.length };
    },
  };
}

interface Judged {
  userId: number;
  url: string;
}

/** The repositories of an agent that somebody must be able to read, to read the agent. */
function judgedFor(principal: Principal, agent: SharedAgent, { needsAccount }: RepositoryReading): Judged[] {
  if (principal.kind === "service_account" || relationOf(principal, agent) !== "teammate") return [];
  const { userId } = principal;
  return agent.settings.repos.filter(({ url }) => needsAccount(url)).map(({ url }) => ({ userId, url }));
}

/** The first that they cannot. */
async function obstacleIn(repositories: Judged[], judge: RepositoryReading["judge"]): Promise<Obstacle | null> {
  for (const { userId, url } of repositories) {
    const answer = await judge(userId, url);
    if (answer.kind !== "granted") return { url, reading: answer };
  }
  return null;
}

/** Agents of one list often work on the same repository. */
function once(judge: RepositoryReading["judge"]): RepositoryReading["judge"] {
  const known = new Map<string, Promise<Reading>>();
  return (userId, url) => {
    const answer = known.get(url) ?? judge(userId, url);
    known.set(url, answer);
    return answer;
  };
}

interface Obstacle {
  url: string;
  reading: Exclude<Reading, { kind: "granted" }>;
}

/** A page of a list asks about no more repositories. */
const mostAsked = 25;

/** At least one, so that whoever turns pages comes to an end. */
function firstOf<Agent>(agents: Agent[], urlsOf: (agent: Agent) => string[]): Agent[] {
  const asked = new Set<string>();
  const end = agents.findIndex((agent, index) => {
    for (const url of urlsOf(agent)) asked.add(url);
    return index > 0 && asked.size > mostAsked;
  });
  return end < 0 ? agents : agents.slice(0, end);
}

const refusals: Record<Deed, (agentId: string) => string> = {
  read: (id) => `Agent ${id} is not shared with you.`,
  follow_up: (id) =>
    `Agent ${id} takes follow-ups from its owner only. Start an agent of your own, or ask an administrator to turn on team follow-ups.`,
  manage: (id) => `Agent ${id} is another's: you may read it. Ask its owner or an administrator.`,
};

function problemOf({ id }: SharedAgent, { url, reading }: Obstacle, { shown, publicUrl }: SharingOptions): ApiProblem {
  const about = `Agent ${id} works on ${shown(url)}`;
  const { host } = reading;
  switch (reading.kind) {
    case "not connected":
      return new ApiProblem("integration_not_connected", `${about}. To read it, connect your account on ${host}.`, {
        members: { helpUrl: `${publicUrl()}/accounts`, provider: "github" },
      });
    case "denied":
      return new ApiProblem(
        "forbidden",
        `${about}, which your account ${reading.login} on ${host} may not read. Ask for access to it there.`,
      );
    case "unknown":
      return new ApiProblem(
        "unavailable",
        `${about}, and ${host} could not be asked whether you may read it (${reading.reason}). Try again.`,
      );
  }
}
