// `agentcli cost --cache`: how much of the input of each turn was read from a prompt cache, and why a prefix broke.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { type CachedTurn, readCachedTurns } from "../../sessions/prompt-cache.ts";

export interface CacheOptions {
  home: string;
  sinceMs: number;
  print(text: string): Promise<void>;
}

export async function printCache(invocation: Invocation, { home, sinceMs, print }: CacheOptions): Promise<number> {
  if (invocation.text("by") !== undefined)
    throw new CommandError("usage", "--cache cannot be combined with --by: it lists turns. Remove one of them.");
  const turns = readCachedTurns(home, sinceMs);
  await print(invocation.has("json") ? asJson(turns) : asText(turns));
  return exitCodes.completed.code;
}

const rateOf = ({ inputTokens, cachedInputTokens }: Pick<CachedTurn, "inputTokens" | "cachedInputTokens">): number =>
  inputTokens === 0 ? 0 : cachedInputTokens / inputTokens;

const asJson = (turns: CachedTurn[]): string =>
  `${JSON.stringify({ turns: turns.map(turnJson), total: totalJson(turns) }, null, 2)}\n`;

const turnJson = (turn: CachedTurn): object => ({
  thread_id: turn.threadId,
  turn_id: turn.turnId,
  at: turn.at,
  ...figures(turn),
  breaks: turn.breaks.map(({ request, lostTokens, reason }) => ({ request, lost_tokens: lostTokens, reason })),
});

type Figures = Pick<CachedTurn, "requests" | "inputTokens" | "cachedInputTokens">;

const figures = (turn: Figures): object => ({
  requests: turn.requests,
  input_tokens: turn.inputTokens,
  cached_input_tokens: turn.cachedInputTokens,
  hit_rate: Number(rateOf(turn).toFixed(4)),
});

const totalJson = (turns: CachedTurn[]): object => figures(totalOf(turns));

const totalOf = (turns: CachedTurn[]): Figures => ({
  requests: sum(turns, "requests"),
  inputTokens: sum(turns, "inputTokens"),
  cachedInputTokens: sum(turns, "cachedInputTokens"),
});

const sum = (turns: CachedTurn[], member: keyof Figures): number =>
  turns.reduce((total, turn) => total + turn[member], 0);

function asText(turns: CachedTurn[]): string {
  if (turns.length === 0) return "No turns.\n";
  const heads = ["turn", "requests", "input", "cached", "hit rate"];
  const named = turns.map((turn) => [`${turn.at.slice(0, 16).replace("T", " ")} ${turn.threadId}`, turn] as const);
  const rows = [...named.map(([name, turn]) => rowOf(name, turn)), rowOf("total", totalOf(turns))];
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    `${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  ")}\n`;
  const listed = turns.map((turn, index) => line(rows[index] ?? []) + turn.breaks.map(breakLine).join(""));
  return line(heads) + listed.join("") + line(rows.at(-1) ?? []);
}

const breakLine = ({ request, lostTokens, reason }: CachedTurn["breaks"][number]): string =>
  `  request ${request}: ${lostTokens.toLocaleString("en-US")} tokens not in the cache: ${reason}\n`;

const rowOf = (name: string, turn: Figures): string[] => [
  name,
  ...[turn.requests, turn.inputTokens, turn.cachedInputTokens].map((count) => count.toLocaleString("en-US")),
  `${(rateOf(turn) * 100).toFixed(1)} %`,
];
