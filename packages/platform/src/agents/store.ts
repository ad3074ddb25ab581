// Agents and runs in the database, always within one team.
import type { RunGit } from "@agentcli/protocol/api";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { ApiError, type DataKey, type Queries, type Tables } from "../foundation/index.ts";
import { branchesOf } from "../repositories/index.ts";
import type { AgentRow, ListedAgent, RunRow } from "./views/views.ts";

export type Transaction = Parameters<Parameters<ReturnType<Kysely<Tables>["transaction"]>["execute"]>[0]>[0];

/**
 * Until the end of the transaction no other process adds a run to the agent, archives or deletes it, and no run of it ends.
 * Every transaction locks the agent before its runs.
 */
export function lockAgent(tx: Transaction, agentId: string): Promise<AgentRow | undefined> {
  return tx.selectFrom("agents").selectAll().where("id", "=", agentId).forNoKeyUpdate().executeTakeFirst();
}

/** Of another team is the same as not there. */
export async function findAgent(db: Queries, teamId: number, agentId: string): Promise<ListedAgent> {
  const row = await agents(db, teamId).where("agents.id", "=", agentId.toLowerCase()).executeTakeFirst();
  if (!row) throw new ApiError("agent_not_found", `There is no agent ${agentId.slice(0, 100)}.`);
  return row;
}

export async function findRun(db: Queries, agentId: string, runId: string): Promise<RunRow> {
  const row = await db
    .selectFrom("runs")
    .selectAll()
    .where("agent_id", "=", agentId)
    .where("id", "=", runId.toLowerCase())
    .executeTakeFirst();
  if (!row) throw new ApiError("run_not_found", `Agent ${agentId} has no run ${runId.slice(0, 100)}.`);
  return row;
}

export interface AgentFilter {
  limit: number;
  /** The last agent of the page before. */
  after: { createdAt: Date; id: string } | null;
  /** Of a pull request they have opened, or were sent to work on. */
  prUrl?: string | undefined;
  source?: string | undefined;
  /** All but those of this source. */
  exceptSource?: string | undefined;
  includeArchived: boolean;
}

/** One more than the limit where there is a next page. */
export function listAgents(db: Kysely<Tables>, teamId: number, filter: AgentFilter): Promise<ListedAgent[]> {
  let query = agents(db, teamId)
    .orderBy("agents.created_at", "desc")
    .orderBy("agents.id", "desc")
    .limit(filter.limit + 1);
  const { after, prUrl, source, exceptSource } = filter;
  if (after) query = query.where(sql<boolean>`(agents.created_at, agents.id) < (${after.createdAt}, ${after.id})`);
  if (!filter.includeArchived) query = query.where("agents.archived_at", "is", null);
  if (source !== undefined) query = query.where("agents.source", "=", source);
  if (exceptSource !== undefined) query = query.where("agents.source", "!=", exceptSource);
  if (prUrl !== undefined)
    query = query.where(({ or, eb, selectFrom }) =>
      or([
        eb("agents.id", "in", selectFrom("handoffs").select("agent_id").where("pr_url", "=", prUrl)),
        sql<boolean>`agents.settings @> ${JSON.stringify({ repos: [{ prUrl }] })}::jsonb`,
      ]),
    );
  return query.execute();
}

const agents = (db: Queries, teamId: number) =>
  db
    .selectFrom("agents")
    .selectAll("agents")
    .select(
      sql<boolean>`exists (
        select from runs where runs.agent_id = agents.id and runs.status in ('CREATING', 'RUNNING')
      )`.as("busy"),
    )
    .where("agents.team_id", "=", teamId);

/** The same on every run of an agent. Null before anything was handed off. */
export async function readGit(db: Queries, agentId: string, key: DataKey): Promise<RunGit | null> {
  const branches = await branchesOf(db, { agentId, key });
  return branches.length > 0 ? { branches } : null;
}

/** Part of the statement that ends a run, which it sees as `fence`. */
export const touchAgent = (endedAt: Date): RawBuilder<unknown> =>
  sql`update agents set updated_at = ${endedAt} where id in (select agent_id from fence)`;
