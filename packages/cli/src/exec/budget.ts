// What a turn may spend: --budget over [budget]; a resumed turn keeps its budget.
import { CommandError } from "@agentcli/command-line";
import { durationMs } from "@agentcli/project";
import type { Budget, BudgetConfig, Usage } from "@agentcli/protocol";

const names = ["usd", "tokens", "turns", "tools", "wall"] as const;
type Name = (typeof names)[number];

export function resolveBudget(
  flags: string[],
  config: BudgetConfig | undefined,
  recorded: Budget | undefined,
): Budget | undefined {
  const entries = flags.flatMap((flag) => flag.split(",")).map(parseEntry);
  if (entries.length === 0 && !config) return recorded;
  return { ...fromConfig(config), ...Object.fromEntries(entries) };
}

/** A budget in money needs a known price. */
export function checkPrice(
  budget: Budget | undefined,
  model: string,
  price: (model: string, usage: Usage) => number | null,
): void {
  if (budget?.usd === undefined || price(model, nothing) !== null) return;
  throw new CommandError(
    "usage",
    `--budget usd=${budget.usd}: the price of ${model} is not known. Add [prices."${model}"] input and output to config.toml, or use tokens=.`,
  );
}

function parseEntry(entry: string): [keyof Budget, number] {
  const [name = "", text = ""] = entry.split("=").map((part) => part.trim());
  if (!names.includes(name as Name)) {
    throw new CommandError("usage", `--budget ${entry}: choose from ${names.map((name) => `${name}=…`).join(", ")}.`);
  }
  if (name === "wall") return ["wallMs", requireNumber(entry, durationMs(text), "a duration such as 20m")];
  if (name === "usd") return [name, requireNumber(entry, parseAmount(text), "a number such as 2.5")];
  const amount = parseAmount(text);
  // No tool at all may be called: that is a budget; no request at all is none.
  if (name === "tools" && amount === 0) return [name, 0];
  const expected = "a whole number such as 40 or 500k";
  return [name as "tokens" | "turns" | "tools", requireNumber(entry, amount && Math.floor(amount), expected)];
}

function requireNumber(entry: string, value: number | null, expected: string): number {
  if (value !== null && value > 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new CommandError("usage", `--budget ${entry}: expected ${expected}.`);
}

function parseAmount(text: string): number | null {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text) ?? [];
  if (amount === undefined) return null;
  return Number(amount) * ({ k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1);
}

function fromConfig({ wall, ...rest }: BudgetConfig = {}): Budget {
  const wallMs = wall === undefined ? null : durationMs(wall);
  return wallMs === null ? rest : { ...rest, wallMs };
}

const nothing: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
