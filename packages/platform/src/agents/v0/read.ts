// Agents with their latest run and hand-off, one or a page of them.
import type { V0Agent } from "@agentcli/protocol/api";
import { decodeCursor, encodeCursor } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { AgentHost } from "../routes/agents.ts";
import type { ListedAgent } from "../views/views.ts";
import { viewAgent } from "./views.ts";

export async function readAgent(host: AgentHost, row: ListedAgent): Promise<V0Agent> {
  const [agent] = await view(host, [row]);
  if (!agent) throw new Error("a list of one came back empty");
  return agent;
}

/** As it is before anything has become of it: a request that is repeated later is answered with the same words. */
export async function readNewAgent({ platform, publicUrl }: AgentHost, row: ListedAgent): Promise<V0Agent> {
  const key = await platform.vault.unwrap(row.data_key);
  return viewAgent({ row, key, run: undefined, handoff: undefined, publicUrl: publicUrl() });
}

export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
  prUrl?: string | undefined;
}

export async function readPage(host: AgentHost, principal: Principal, { limit, cursor, prUrl }: PageRequest) {
  const filter = { limit, prUrl, includeArchived: true, after: decodeCursor(cursor) };
  const { agents, next } = await host.access.list(principal, filter);
  return { agents: await view(host, agents), ...(next && { nextCursor: encodeCursor(next) }) };
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
