// Finds agents of the caller's team, and refuses actions that the caller may not perform on them.
import type { Kysely } from "kysely";
import type { Position, Tables } from "../foundation/index.ts";
import { type AgentAction, type Principal, relationOf, type SharedAgent, type Sharing } from "../identity/index.ts";
import { type AgentFilter, findAgent, findRun, listAgents } from "./store.ts";
import type { ListedAgent } from "./views/views.ts";

export interface AgentAccess {
  /** Throws ApiError: `agent_not_found` for one of another team, else why not. */
  find(principal: Principal, agentId: string, action: AgentAction): Promise<ListedAgent>;
  /** Throws like `find`. Besides those who may manage the agent, the requester of a run may cancel it. */
  findToCancel(principal: Principal, agentId: string, runId: string | "latest"): Promise<ListedAgent>;
  /** Those that the principal may read, newest first. A page may hold fewer than its limit and yet not be the last. */
  list(principal: Principal, filter: AgentFilter): Promise<AgentSelection>;
  /**
   * The ids of those that the principal may read, of agents of their team. The last ones are left out where asking about
   * them takes too many requests to source hosts.
   */
  readable(principal: Principal, agents: SharedAgent[]): Promise<Set<string>>;
  /** The reason why the principal may not; null where they may. */
  refusal(principal: Principal, agent: ListedAgent, action: AgentAction): Promise<string | null>;
}

export interface AgentSelection {
  agents: ListedAgent[];
  /** Null at the end of the list. */
  next: Position | null;
}

export function openAgentAccess(db: Kysely<Tables>, sharing: Sharing): AgentAccess {
  const check = async (principal: Principal, agent: ListedAgent, action: AgentAction): Promise<void> => {
    const problem = await sharing.refusal(principal, agent, action);
    if (problem) throw problem;
  };
  return {
    async find(principal, agentId, action) {
      const agent = await findAgent(db, principal.teamId, agentId);
      await check(principal, agent, action);
      return agent;
    },
    async findToCancel(principal, agentId, runId) {
      const agent = await findAgent(db, principal.teamId, agentId);
      await check(principal, agent, "read");
      const id = runId === "latest" ? agent.latest_run_id : runId;
      const isRequester = id !== null && relationOf(principal, await findRun(db, agent.id, id)) === "owner";
      if (!isRequester) await check(principal, agent, "manage");
      return agent;
    },
    list: (principal, filter) => listReadable({ db, sharing, principal }, filter),
    async readable(principal, agents) {
      const { readable } = await sharing.readable(principal, agents);
      return new Set(readable.map(({ id }) => id));
    },
    async refusal(principal, agent, action) {
      return (await sharing.refusal(principal, agent, action))?.message ?? null;
    },
  };
}

interface ListContext {
  db: Kysely<Tables>;
  sharing: Sharing;
  principal: Principal;
}

/** A caller who may read almost nothing still gets an answer in time; the next page continues. */
const maxRounds = 5;

async function listReadable({ db, sharing, principal }: ListContext, filter: AgentFilter): Promise<AgentSelection> {
  const agents: ListedAgent[] = [];
  let { after } = filter;
  for (let round = 0; round < maxRounds; round += 1) {
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
