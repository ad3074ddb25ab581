// Agents with their latest run and hand-off, one or a page of them.
import type { V0Agent } from "@agentcli/protocol/api";
import {
  type AgentHost,
  decodeCursor,
  encodeCursor,
  findAgent,
  type ListedAgent,
  listAgents,
} from "../agents/index.ts";
import { viewAgent } from "./views.ts";

export async function readAgent(host: AgentHost, teamId: number, id: string): Promise<V0Agent> {
  const [agent] = await view(host, [await findAgent(host.platform.db, teamId, id)]);
  if (!agent) throw new Error("a list of one came back empty");
  return agent;
}

export interface PageWish {
  limit: number;
  cursor?: string | undefined;
  prUrl?: string | undefined;
}

export async function readPage(host: AgentHost, teamId: number, { limit, cursor, prUrl }: PageWish) {
  const filter = { limit, prUrl, includeArchived: true, after: decodeCursor(cursor) };
  const rows = await listAgents(host.platform.db, teamId, filter);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isMore = rows.length > page.length && last;
  return {
    agents: await view(host, page),
    ...(isMore && { nextCursor: encodeCursor({ createdAt: last.created_at, id: last.id }) }),
  };
}

async function view({ platform: { db, vault }, publicUrl }: AgentHost, rows: ListedAgent[]): Promise<V0Agent[]> {
  if (rows.length === 0) return [];
  const latest = rows.map(({ latest_run_id }) => latest_run_id ?? "");
  const ids = rows.map(({ id }) => id);
  const [runs, handoffs] = await Promise.all([
    db.selectFrom("runs").selectAll().where("id", "in", latest).execute(),
    db.selectFrom("handoffs").selectAll().where("agent_id", "in", ids).orderBy("repo_url").execute(),
  ]);
  return Promise.all(
    rows.map(async (row) =>
      viewAgent({
        row,
        key: await vault.unwrap(row.data_key),
        run: runs.find(({ id }) => id === row.latest_run_id),
        handoff: handoffs.find(({ agent_id }) => agent_id === row.id),
        publicUrl: publicUrl(),
      }),
    ),
  );
}
