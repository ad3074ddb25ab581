// `GET /v1/agents/{id}/usage`: tokens and cost, of the agent and of each run.
import type { AgentUsage, TokenUsage } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import type { Kysely, Selectable } from "kysely";
import { z } from "zod";
import { type Api, ApiError, type RunTable, schema, type Tables } from "../../foundation/index.ts";
import type { FindReadableAgent } from "../agent-reader.ts";

type RunRow = Selectable<RunTable>;

export interface UsageHost {
  db: Kysely<Tables>;
  findAgent: FindReadableAgent;
}

export function addUsageRoute(api: Api, { db, findAgent }: UsageHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/usage",
      summary: "What an agent has used and cost",
      tag: "Usage",
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string() }),
      query: schema("usage", "UsageQuery"),
      answer: { status: 200, schema: schema("usage", "AgentUsage"), description: "Tokens and cost" },
      problems: ["run_not_found"],
    },
    async ({ params, query: { runId }, principal }) => {
      const { id } = await findAgent(principal, params.id);
      let runs = db.selectFrom("runs").selectAll().where("agent_id", "=", id).orderBy("number", "desc");
      if (runId !== undefined) runs = runs.where("id", "=", runId.toLowerCase());
      const rows = await runs.execute();
      if (runId !== undefined && rows.length === 0)
        throw new ApiError("run_not_found", `Agent ${id} has no run ${runId}.`);
      return usageOf(rows);
    },
  );
}

function usageOf(rows: RunRow[]): AgentUsage {
  const cost = costOf(rows);
  return {
    totalUsage: add(rows.map(tokensOf)),
    ...(cost && { cost }),
    runs: rows.map((row) => {
      const own = costOf([row]);
      const usage = tokensOf(row);
      return {
        id: row.id,
        ...(usage.totalTokens > 0 && { usageUuid: row.id.slice(4) }),
        usage,
        ...(own && { cost: own }),
      };
    }),
  };
}

function tokensOf(row: RunRow): TokenUsage {
  const { input_tokens, output_tokens, cache_write_tokens, cache_read_tokens } = row;
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheWriteTokens: cache_write_tokens,
    cacheReadTokens: cache_read_tokens,
    totalTokens: input_tokens + output_tokens + cache_write_tokens + cache_read_tokens,
  };
}

function add(usages: TokenUsage[]): TokenUsage {
  const sum = (name: keyof TokenUsage) => usages.reduce((total, usage) => total + usage[name], 0);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    cacheReadTokens: sum("cacheReadTokens"),
    totalTokens: sum("totalTokens"),
  };
}

/** A sum with an unknown part would be a wrong figure. */
function costOf(rows: RunRow[]): AgentUsage["cost"] | null {
  const ended = rows.filter(({ ended_at }) => ended_at !== null);
  if (ended.length === 0 || ended.some(({ cost_usd }) => cost_usd === null)) return null;
  const cents = toCents(ended.reduce((total, { cost_usd }) => total + Number(cost_usd), 0));
  return { rawCostCents: cents, chargedCents: cents };
}
