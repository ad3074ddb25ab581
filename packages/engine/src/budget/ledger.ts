// What a turn has spent and may still spend, computed from the log alone, so that a crash loses no cost.
import type { Budget, Usage } from "@agentcli/protocol";

export interface Ledger {
  usd: number;
  tokens: number;
  /** Model requests. */
  requests: number;
  tools: number;
  /** The newest request; the cost of the next is estimated from it. */
  last: { usd: number; tokens: number; sizeAfter: number } | null;
}

export const emptyLedger = (): Ledger => ({ usd: 0, tokens: 0, requests: 0, tools: 0, last: null });

/** `sizeAfter` is the estimated size of the conversation with this reply in it. */
export function charge(
  ledger: Ledger,
  { usage, costUsd }: { usage: Usage; costUsd?: number | null },
  sizeAfter = 0,
): void {
  const tokens = usage.inputTokens + usage.outputTokens;
  const usd = costUsd ?? 0;
  ledger.usd += usd;
  ledger.tokens += tokens;
  ledger.requests += 1;
  ledger.last = { usd, tokens, sizeAfter };
}

/** A request outside the conversation: the next one is not estimated from it. */
export function chargeAside(ledger: Ledger, spent: { usage: Usage; costUsd?: number | null }): void {
  const { last } = ledger;
  charge(ledger, spent);
  ledger.last = last;
}

/** The first limit of the budget that does not allow another request and the wrap-up after it. The very first request is always allowed. */
export function spentPart(budget: Budget | undefined, ledger: Ledger, nextSize: number): keyof Budget | undefined {
  if (!budget || ledger.requests === 0) return undefined;
  const reserved = estimateNextRequest(ledger, nextSize);
  if (isSpent(budget.usd, ledger.usd, reserved.usd)) return "usd";
  if (isSpent(budget.tokens, ledger.tokens, reserved.tokens)) return "tokens";
  if (budget.turns !== undefined && ledger.requests >= budget.turns - 1) return "turns";
  if (budget.tools !== undefined && ledger.tools >= budget.tools) return "tools";
  return undefined;
}

/** A tenth is reserved for the wrap-up, and at least the expected cost of one request. */
function isSpent(limit: number | undefined, spent: number, reserved: number): boolean {
  return limit !== undefined && spent + reserved > limit - Math.max(limit / 10, reserved);
}

/** The next request costs as much as the last plus the messages added since; the first of a thread costs its size. */
export function estimateNextRequest(ledger: Ledger, nextSize: number): { usd: number; tokens: number } {
  const { last } = ledger;
  const perToken = ledger.tokens > 0 ? ledger.usd / ledger.tokens : 0;
  if (!last) return { usd: nextSize * perToken, tokens: nextSize };
  const added = Math.max(0, nextSize - last.sizeAfter);
  const share = last.tokens > 0 ? added / last.tokens : 0;
  return { usd: last.usd * (1 + share), tokens: last.tokens + added };
}

/** Tokens that the wrap-up may use in total; null means unlimited. */
export function wrapUpRoom(budget: Budget | undefined, ledger: Ledger): number | null {
  const byTokens = budget?.tokens === undefined ? null : budget.tokens - ledger.tokens;
  const perToken = ledger.last && ledger.last.tokens > 0 ? ledger.last.usd / ledger.last.tokens : 0;
  const byUsd = budget?.usd === undefined || perToken === 0 ? null : Math.floor((budget.usd - ledger.usd) / perToken);
  if (byTokens === null || byUsd === null) return byTokens ?? byUsd;
  return Math.min(byTokens, byUsd);
}

/** Whether one more request is allowed, for the wrap-up. */
export const mayAskOnce = (budget: Budget | undefined, ledger: Ledger): boolean =>
  budget?.turns === undefined || ledger.requests < budget.turns;

/** The limit of an ordinary reply, so that one reply cannot spend the whole budget. */
export function outputCap(budget: Budget | undefined, ledger: Ledger, requestSize: number): number | undefined {
  const room = wrapUpRoom(budget, ledger);
  return room === null ? undefined : Math.max(256, room - requestSize);
}

/** The sum; `last` stays that of the first. */
export const addLedgers = (first: Ledger, second: Ledger): Ledger => ({
  usd: first.usd + second.usd,
  tokens: first.tokens + second.tokens,
  requests: first.requests + second.requests,
  tools: first.tools + second.tools,
  last: first.last,
});

export const subtractLedger = (whole: Ledger, part: Ledger): Ledger => ({
  usd: whole.usd - part.usd,
  tokens: whole.tokens - part.tokens,
  requests: whole.requests - part.requests,
  tools: whole.tools - part.tools,
  last: null,
});
