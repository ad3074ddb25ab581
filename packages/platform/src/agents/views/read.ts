// Agents as the API and the pages show them, decrypted.
import type { Agent, AgentListItem, Run, RunModel } from "@agentcli/protocol/api";
import { decodeCursor, encodeCursor, type PlatformContext } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { type RunRequest, requestAad } from "../../runs/index.ts";
import type { AgentAccess } from "../access.ts";
import { type AgentFilter, readGit } from "../store.ts";
import { agentOf, type ListedAgent, listItemOf, runOf } from "./views.ts";

interface ReadContext {
  platform: PlatformContext;
  access: AgentAccess;
  publicUrl(): string;
}

export interface AgentPage {
  items: AgentListItem[];
  nextCursor?: string;
}

const defaultPage = { limit: 20, includeArchived: true };

export async function readAgentPage(
  { platform: { vault }, access, publicUrl }: ReadContext,
  principal: Principal,
  cursor: string | undefined,
  filter: Omit<AgentFilter, "after"> = defaultPage,
): Promise<AgentPage> {
  const { agents, next } = await access.list(principal, { ...filter, after: decodeCursor(cursor) });
  const items = await Promise.all(
    agents.map(async (row) => listItemOf(row, await vault.unwrap(row.data_key), publicUrl())),
  );
  return { items, ...(next && { nextCursor: encodeCursor(next) }) };
}

/** The model of the latest run of each agent, by its id. */
export async function readLatestModels(
  { platform: { db } }: Pick<ReadContext, "platform">,
  agents: AgentListItem[],
): Promise<Map<string, RunModel>> {
  const ids = agents.flatMap(({ latestRunId }) => latestRunId ?? []);
  if (ids.length === 0) return new Map();
  const runs = await db
    .selectFrom("runs")
    .select(["agent_id", "model", "model_provider"])
    .where("id", "in", ids)
    .execute();
  return new Map(
    runs.flatMap(({ agent_id, model, model_provider }) =>
      model && model_provider ? [[agent_id, { id: model, provider: model_provider }]] : [],
    ),
  );
}

const maxRuns = 100;

/** The newest runs with their prompts. */
export async function readConversation(
  { platform: { db, vault }, publicUrl }: Pick<ReadContext, "platform" | "publicUrl">,
  row: ListedAgent,
): Promise<{ agent: Agent; runs: (Run & { prompt: string })[] }> {
  const key = await vault.unwrap(row.data_key);
  const git = await readGit(db, row.id, key);
  const runs = await db
    .selectFrom("runs")
    .selectAll()
    .where("agent_id", "=", row.id)
    .orderBy("number", "desc")
    .limit(maxRuns)
    .execute();
  const promptOf = (id: string, request: Buffer): string =>
    (JSON.parse(key.openText(request, requestAad(id))) as RunRequest).prompt.text;
  return {
    agent: agentOf(row, key, publicUrl()),
    runs: runs.map((run) => ({ ...runOf(run, key, git), prompt: promptOf(run.id, run.request) })),
  };
}
