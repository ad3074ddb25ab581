// How often the cases passed for each model, and what that cost: as text and as JSON.
import { relative } from "node:path";
import type { Case } from "./case.ts";
import type { CaseResult } from "./run-case.ts";

export interface EvalResult {
  /** Empty: the configured one. */
  model: string;
  case: Case;
  /** Fewer than asked for where the budget was spent. */
  runs: CaseResult[];
}

/** From 0 to 1; a case that was not run has not passed. */
export const passRate = ({ runs }: Pick<EvalResult, "runs">): number =>
  runs.length === 0 ? 0 : passed(runs) / runs.length;

const passed = (runs: CaseResult[]): number => runs.filter(({ failures }) => failures.length === 0).length;

export function evalReport(results: EvalResult[], runs: number): string {
  const models = [...new Set(results.map(({ model }) => model))];
  return `${models
    .map((model) =>
      modelReport(
        results.filter((result) => result.model === model),
        runs,
      ),
    )
    .join("\n\n")}\n`;
}

function modelReport(results: EvalResult[], runs: number): string {
  const width = Math.max(...results.map(({ case: { name } }) => name.length));
  const rows = results.flatMap((result) => [
    `  ${result.case.name.padEnd(width)}  ${rateText(result.runs)}  ${costText(result.runs)}`,
    ...failureLines(result.runs).map(({ message, count }) => `      ${count} of ${result.runs.length}: ${message}`),
  ]);
  const all = results.flatMap((result) => result.runs);
  const missing = results.length * runs - all.length;
  const left = missing > 0 ? `, ${missing} not run` : "";
  return [
    results[0]?.model || "The configured model",
    ...rows,
    `  ${passed(all)} of ${all.length} runs passed${percent(all)}${left}, ${costText(all)}, ${tokensOf(all)} tokens`,
  ].join("\n");
}

const rateText = (runs: CaseResult[]): string =>
  runs.length === 0 ? "not run" : `${passed(runs)}/${runs.length} passed${percent(runs)}`;

const percent = (runs: CaseResult[]): string =>
  runs.length === 0 ? "" : ` (${Math.round((passed(runs) / runs.length) * 100)} %)`;

const costOf = (runs: CaseResult[]): number | null =>
  runs.reduce<number | null>((sum, { facts }) => {
    const usd = facts?.spent.usd ?? null;
    return sum === null || usd === null ? null : sum + usd;
  }, 0);

const costText = (runs: CaseResult[]): string => {
  const cost = costOf(runs);
  return cost === null ? "price not known" : `$${cost.toFixed(4)}`;
};

const tokensOf = (runs: CaseResult[]): number => runs.reduce((sum, { facts }) => sum + (facts?.spent.tokens ?? 0), 0);

/** Each reason once, the most frequent first. */
function failureLines(runs: CaseResult[]): { message: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { failures } of runs) {
    const [first] = failures;
    if (first)
      counts.set(`line ${first.line}: ${first.message}`, (counts.get(`line ${first.line}: ${first.message}`) ?? 0) + 1);
  }
  return [...counts].map(([message, count]) => ({ message, count })).sort((left, right) => right.count - left.count);
}

export const toJson = (results: EvalResult[], root: string): string =>
  `${JSON.stringify({
    results: results.map((result) => ({
      model: result.model || null,
      file: relative(root, result.case.path),
      case: result.case.name,
      runs: result.runs.length,
      passed: passed(result.runs),
      pass_rate: passRate(result),
      cost_usd: costOf(result.runs),
      tokens: tokensOf(result.runs),
      failures: failureLines(result.runs),
    })),
  })}\n`;
