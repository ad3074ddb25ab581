// Agents for whoever asks: found in their team, and handed out where they may do with them what they ask for.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import type { Principal } from "../principals/index.ts";
import { type Deed, relationOf, type Sharing } from "../sharing/index.ts";
import type { Position } from "./cursor.ts";
import { type AgentFilter, findAgent, findRun, listAgents } from "./store.ts";
import type { ListedAgent } from "./views.ts";

export interface AgentAccess {
  /** Throws ApiProblem: `agent_not_found` for one of another team, else why not. */
  find(principal: Principal, agentId: string, deed: Deed): Promise<ListedAgent>;
  /** Throws like `find`. Besides those who may manage the agent, whoever asked for a run may end it. */
  findToCancel(principal: Principal, agentId: string, runId: string | "latest"): Promise<ListedAgent>;
  /** Those that the principal may read, newest first. A page may hold fewer than its limit and yet not be the last. */
  list(principal: Principal, filter: AgentFilter): Promise<FoundAgents>;
  /** Why the principal may not, in words; null where they may. */
  refusal(principal: Principal, agent: ListedAgent, deed: Deed): Promise<string | null>;
}

export interface FoundAgents {
  agents: ListedAgent[];
  /** Null at the end of the list. */
  next: Position | null;
}

export function openAgentAccess(db: Kysely<Tables>, sharing: Sharing): AgentAccess {
  const check = async (principal: Principal, agent: ListedAgent, deed: Deed): Promise<void> => {
    const problem = await sharing.refusal(principal, agent, deed);
    if (problem) throw problem;
  };
  return {
    async find(principal, agentId, deed) {
      const agent = await findAgent(db, principal.teamId, agentId);
      await check(principal, agent, deed);
      return agent;
    },
    async findToCancel(principal, agentId, runId) {
      const agent = await findAgent(db, principal.teamId, agentId);
      await check(principal, agent, "read");
      const id = runId === "latest" ? agent.latest_run_id : runId;
      const isAsker = id !== null && relationOf(principal, await findRun(db, agent.id, id)) === "owner";
      if (!isAsker) await check(principal, agent, "manage");
      return agent;
    },
    list: (principal, filter) => listReadable({ db, sharing, principal }, filter),
    async refusal(principal, agent, deed) {
      return (await sharing.refusal(principal, agent, deed))?.message ?? null;
    },
  };
}

interface Listing {
  db: Kysely<Tables>;
  sharing: Sharing;
  principal: Principal;
}

/** Whoever may read next to nothing is answered in time; the next page goes on. */
const mostRounds = 5;

async function listReadable({ db, sharing, principal }: Listing, filter: AgentFilter): Promise<FoundAgents> {
  const agents: ListedAgent[] = [];
  let { after } = filter;
  for (let round = 0; round < mostRounds; round += 1) {
    const rows = await listAgents(db, principal.teamId, { ...filter, after });
    const asked = rows.slice(0, filter.limit);
    const { readable, count } = await sharing.readable(principal, asked);
    agents.push(...readable.slice(0, filter.limit - agents.length));
    const isFull = agents.length === filter.limit;
    const last = isFull ? agents.at(-1) : rows[count - 1];
    if (last === undefined || last === rows.at(-1)) return { agents, next: null };
    after = { createdAt: last.created_at, id: last.id };
    if (isFull || count < asked.length) break;
  }
  return { agents, next: after };
}
