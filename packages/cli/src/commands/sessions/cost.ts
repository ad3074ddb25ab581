// `agentcli cost`: what the sessions of this agent home have spent, as a table for people or as JSON.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { decimalUsd } from "@agentcli/protocol/money";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { ageMs } from "../../sessions/age.ts";
import { addUp, type CostReport, type Grouping, type Sum } from "../../sessions/cost.ts";

export async function run(invocation: Invocation, { environment, reporter, print }: Program): Promise<number> {
  const since = invocation.text("since");
  const by = (invocation.text("by") ?? "model") as Grouping;
  const sinceMs = since === undefined ? 0 : Date.now() - ageMs("since", since);
  if (invocation.has("cache")) {
    const { printCache } = await import("./cost-cache.ts");
    return printCache(invocation, { home: environment.agentHome, sinceMs, print });
  }
  const report = addUp(environment.agentHome, sinceMs, by);
  for (const problem of report.problems) reporter.log(`warning: ${problem}`);
  await print(invocation.has("json") ? asJson(report, by, sinceMs) : asTable(report, by));
  return exitCodes.completed.code;
}

function asJson({ groups, total }: CostReport, by: Grouping, sinceMs: number): string {
  const since = sinceMs === 0 ? null : new Date(sinceMs).toISOString();
  const rows = groups.map(({ name, sum }) => ({ [by]: name, ...jsonOf(sum) }));
  return `${JSON.stringify({ since, by, groups: rows, total: jsonOf(total) }, null, 2)}\n`;
}

/** `cost_usd` as in turn.completed: null where a price was not known. */
const jsonOf = (sum: Sum): object => ({
  requests: sum.requests,
  input_tokens: sum.inputTokens,
  cached_input_tokens: sum.cachedInputTokens,
  cache_write_input_tokens: sum.cacheWriteInputTokens,
  output_tokens: sum.outputTokens,
  reasoning_output_tokens: sum.reasoningOutputTokens,
  cost_usd: sum.unpricedRequests > 0 ? null : decimalUsd(sum.knownCostUsd),
  known_cost_usd: decimalUsd(sum.knownCostUsd),
  unpriced_requests: sum.unpricedRequests,
});

function asTable({ groups, total }: CostReport, by: Grouping): string {
  const heads = [by, "requests", "input", "cached", "output", "USD"];
  const rows = [heads, ...groups.map(({ name, sum }) => rowOf(name, sum)), rowOf("total", total)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return rows.map((row) => `${line(row).join("  ")}\n`).join("");
}

const rowOf = (name: string, sum: Sum): string[] => [
  name,
  ...[sum.requests, sum.inputTokens, sum.cachedInputTokens, sum.outputTokens].map((count) =>
    count.toLocaleString("en-US"),
  ),
  usd(sum),
];

function usd({ requests, knownCostUsd, unpricedRequests }: Sum): string {
  if (unpricedRequests === 0) return decimalUsd(knownCostUsd);
  return unpricedRequests === requests ? "unknown" : `${decimalUsd(knownCostUsd)} + unknown`;
}
