// Agents as the API and the pages show them, with what is sealed opened.
import type { Agent, AgentListItem, Run } from "@agentcli/protocol/api";
import type { Platform } from "../platform.ts";
import { type RunRequest, requestPlace } from "../runs/index.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { type AgentFilter, findAgent, listAgents, readGit } from "./store.ts";
import { agentOf, listItemOf, runOf } from "./views.ts";

interface Reader {
  platform: Platform;
  publicUrl(): string;
}

export interface AgentPage {
  items: AgentListItem[];
  nextCursor?: string;
}

const usualPage = { limit: 20, includeArchived: true };

export async function readAgentPage(
  { platform: { db, vault }, publicUrl }: Reader,
  teamId: number,
  cursor: string | undefined,
  filter: Omit<AgentFilter, "after"> = usualPage,
): Promise<AgentPage> {
  const rows = await listAgents(db, teamId, { ...filter, after: decodeCursor(cursor) });
  const page = rows.slice(0, filter.limit);
  const items = await Promise.all(
    page.map(async (row) => listItemOf(row, await vault.unwrap(row.data_key), publicUrl())),
  );
  const last = page.at(-1);
  const isMore = rows.length > page.length && last;
  return { items, ...(isMore && { nextCursor: encodeCursor({ createdAt: last.created_at, id: last.id }) }) };
}

const mostRuns = 100;

/** The newest runs with what was said to them. */
export async function readConversation(
  { platform: { db, vault }, publicUrl }: Reader,
  teamId: number,
  agentId: string,
): Promise<{ agent: Agent; runs: (Run & { prompt: string })[] }> {
  const row = await findAgent(db, teamId, agentId);
  const key = await vault.unwrap(row.data_key);
  const git = await readGit(db, row.id);
  const runs = await db
    .selectFrom("runs")
    .selectAll()
    .where("agent_id", "=", row.id)
    .orderBy("number", "desc")
    .limit(mostRuns)
    .execute();
  const promptOf = (id: string, request: Buffer): string =>
    (JSON.parse(key.openText(request, requestPlace(id))) as RunRequest).prompt.text;
  return {
    agent: agentOf(row, key, publicUrl()),
    runs: runs.map((run) => ({ ...runOf(run, key, git), prompt: promptOf(run.id, run.request) })),
  };
}
