// What a turn has spent and may still spend, from the log alone: a crash does not forget what was paid.
import type { Budget, Usage } from "@agentcli/protocol";

export interface Ledger {
  usd: number;
  tokens: number;
  /** Model requests. */
  turns: number;
  tools: number;
  /** The newest request: what the next will cost is guessed from it. */
  last: { usd: number; tokens: number; sizeAfter: number } | null;
}

export const emptyLedger = (): Ledger => ({ usd: 0, tokens: 0, turns: 0, tools: 0, last: null });

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
  ledger.turns += 1;
  ledger.last = { usd, tokens, sizeAfter };
}

/** A request beside the conversation: what the next one costs is not guessed from it. */
export function chargeAside(ledger: Ledger, spent: { usage: Usage; costUsd?: number | null }): void {
  const { last } = ledger;
  charge(ledger, spent);
  ledger.last = last;
}

/** The first part of the budget that does not pay for another request and the wrap-up after it. The first of all is free. */
export function spentPart(budget: Budget | undefined, ledger: Ledger, nextSize: number): keyof Budget | undefined {
  if (!budget || ledger.turns === 0) return undefined;
  const reserved = reservation(ledger, nextSize);
  if (isSpent(budget.usd, ledger.usd, reserved.usd)) return "usd";
  if (isSpent(budget.tokens, ledger.tokens, reserved.tokens)) return "tokens";
  if (budget.turns !== undefined && ledger.turns >= budget.turns - 1) return "turns";
  if (budget.tools !== undefined && ledger.tools >= budget.tools) return "tools";
  return undefined;
}

/** A tenth is held back for the wrap-up, and at least as much as a request is expected to cost. */
function isSpent(limit: number | undefined, spent: number, reserved: number): boolean {
  return limit !== undefined && spent + reserved > limit - Math.max(limit / 10, reserved);
}

/** The next request costs what the last did, and what has been said since; a thread's first costs its size. */
export function reservation(ledger: Ledger, nextSize: number): { usd: number; tokens: number } {
  const { last } = ledger;
  const perToken = ledger.tokens > 0 ? ledger.usd / ledger.tokens : 0;
  if (!last) return { usd: nextSize * perToken, tokens: nextSize };
  const added = Math.max(0, nextSize - last.sizeAfter);
  const share = last.tokens > 0 ? added / last.tokens : 0;
  return { usd: last.usd * (1 + share), tokens: last.tokens + added };
}

/** Tokens the wrap-up may cost in all; null where nothing limits it. */
export function wrapUpRoom(budget: Budget | undefined, ledger: Ledger): number | null {
  const byTokens = budget?.tokens === undefined ? null : budget.tokens - ledger.tokens;
  const perToken = ledger.last && ledger.last.tokens > 0 ? ledger.last.usd / ledger.last.tokens : 0;
  const byUsd = budget?.usd === undefined || perToken === 0 ? null : Math.floor((budget.usd - ledger.usd) / perToken);
  if (byTokens === null || byUsd === null) return byTokens ?? byUsd;
  return Math.min(byTokens, byUsd);
}

/** Whether one more request is allowed at all, for the wrap-up. */
export const mayAskOnce = (budget: Budget | undefined, ledger: Ledger): boolean =>
  budget?.turns === undefined || ledger.turns < budget.turns;

/** Most tokens an ordinary reply may have, so that one reply cannot spend everything. */
export function outputCap(budget: Budget | undefined, ledger: Ledger, requestSize: number): number | undefined {
  const room = wrapUpRoom(budget, ledger);
  return room === null ? undefined : Math.max(256, room - requestSize);
}

/** Added up; what the newest request cost stays the first one's. */
export const addLedgers = (first: Ledger, second: Ledger): Ledger => ({
  usd: first.usd + second.usd,
  tokens: first.tokens + second.tokens,
  turns: first.turns + second.turns,
  tools: first.tools + second.tools,
  last: first.last,
});

export const subtractLedger = (whole: Ledger, part: Ledger): Ledger => ({
  usd: whole.usd - part.usd,
  tokens: whole.tokens - part.tokens,
  turns: whole.turns - part.turns,
  tools: whole.tools - part.tools,
  last: null,
});
