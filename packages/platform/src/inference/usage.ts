// `GET /v1/inference/usage`: usage of the key's owner this month, by model.
import type { InferenceUsage, TokenUsage } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { sql } from "kysely";
import { type Api, type PlatformContext, schema } from "../foundation/index.ts";
import type { Principal } from "../identity/index.ts";

export function addInferenceUsageRoute(api: Api, { db }: PlatformContext): void {
  api.route(
    {
      method: "get",
      path: "/v1/inference/usage",
      summary: "Show the usage and cost of model calls",
      tag: "Inference",
      scope: "inference:create",
      answer: {
        status: 200,
        schema: schema("inference", "InferenceUsage"),
        description: "Of this key's owner, this month",
      },
    },
    async ({ principal }) => {
      const [owner, id] = ownerOf(principal);
      const { rows } = await sql<ModelRow>`
        select model, count(*)::int as calls, bool_and(cost_usd is not null) as "isPriced",
          coalesce(sum(cost_usd), 0)::float8 as usd, sum(input_tokens)::float8 as "inputTokens",
          sum(output_tokens)::float8 as "outputTokens", sum(cache_write_tokens)::float8 as "cacheWriteTokens",
          sum(cache_read_tokens)::float8 as "cacheReadTokens"
        from inference_calls
        where team_id = ${principal.teamId} and ${sql.ref(owner)} = ${id}
          and created_at >= date_trunc('month', now())
        group by model order by model
      `.execute(db);
      const { rows: since } = await sql<{ month: Date }>`select date_trunc('month', now()) as month`.execute(db);
      return usageOf(rows, since[0]?.month ?? new Date());
    },
  );
}

const ownerOf = (principal: Principal): ["user_id", number] | ["service_account_id", string] =>
  principal.kind === "user" ? ["user_id", principal.userId] : ["service_account_id", principal.serviceAccountId];

interface ModelRow extends Omit<TokenUsage, "totalTokens"> {
  model: string;
  calls: number;
  isPriced: boolean;
  usd: number;
}

const usageOf = (rows: ModelRow[], since: Date): InferenceUsage => ({
  since: since.toISOString(),
  calls: rows.reduce((total, { calls }) => total + calls, 0),
  totalUsage: tokensOf(rows),
  ...costOf(rows),
  models: rows.map((row) => ({ model: row.model, calls: row.calls, usage: tokensOf([row]), ...costOf([row]) })),
});

function tokensOf(rows: ModelRow[]): TokenUsage {
  const sum = (amount: (row: ModelRow) => number) => rows.reduce((total, row) => total + amount(row), 0);
  return {
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    cacheWriteTokens: sum((row) => row.cacheWriteTokens),
    cacheReadTokens: sum((row) => row.cacheReadTokens),
    totalTokens: sum((row) => row.inputTokens + row.outputTokens + row.cacheWriteTokens + row.cacheReadTokens),
  };
}

/** No cost if any part of it is unknown: the sum would be wrong. */
function costOf(rows: ModelRow[]): Pick<InferenceUsage, "cost"> {
  if (rows.some(({ isPriced }) => !isPriced)) return {};
  const cents = toCents(rows.reduce((total, { usd }) => total + usd, 0));
  return { cost: { rawCostCents: cents, chargedCents: cents } };
}
