// How much a model thinks before it answers, and whether it has to.
import type { Message, ModelRequest } from "@agentcli/engine";
import type { ModelFacts } from "../catalog.ts";

/**
 * Models with adaptive thinking decide for themselves; `output_config.effort` says how hard. Models before them are given a
 * number of tokens, which is part of `max_tokens`, and think only if an effort is set.
 */
export function thinkingOf(request: ModelRequest, { thinking }: ModelFacts, maxOutputTokens: number): object {
  const { effort, reasoningSummary, messages } = request;
  if (thinking === "none") return {};
  const display = reasoningSummary === "none" ? "omitted" : "summarized";
  if (thinking === "adaptive") return effort === "none" ? {} : { thinking: { type: "adaptive", display } };
  const budget = Math.min(budgets[effort ?? "none"] ?? 0, maxOutputTokens - minAnswerTokens);
  if (budget < minBudget || continuesWithoutThinking(messages)) return {};
  return { thinking: { type: "enabled", budget_tokens: budget, display } };
}

const minBudget = 1_024;
const minAnswerTokens = 2_048;

const budgets: Record<string, number> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
  max: 32_768,
};

/** A reply that is continued after its calls must begin with thinking; one from another model has none. */
function continuesWithoutThinking(messages: Message[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant");
  if (messages.at(-1)?.role !== "tool" || last?.role !== "assistant") return false;
  return !last.blocks.some((block) => block.type === "reasoning" && (block.signature || block.redacted));
}
