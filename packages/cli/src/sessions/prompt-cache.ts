// How much of each turn's input providers had in their cache, and why a request did not find the one before it there.
import { listSessionPaths } from "@agentcli/host/sessions";
import type { RecordOf, SessionLine, TurnSettings, Usage } from "@agentcli/protocol";
import { sessionLines } from "./charges.ts";
import { isChangedSince } from "./cost.ts";

export interface CachedTurn {
  threadId: string;
  turnId: string;
  at: string;
  requests: number;
  inputTokens: number;
  cachedInputTokens: number;
  /** Requests that did not find the one before them, or most of it. */
  breaks: PrefixBreak[];
}

export interface PrefixBreak {
  /** Of the thread, from 1. */
  request: number;
  /** What the request before it had sent, less what was found of it. */
  lostTokens: number;
  reason: string;
}

export function readCachedTurns(home: string, sinceMs: number): CachedTurn[] {
  const turns = listSessionPaths(home)
    .filter((path) => isChangedSince(path, sinceMs))
    .flatMap(turnsOf)
    .filter(({ at, requests }) => requests > 0 && Date.parse(at) >= sinceMs);
  return turns.sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
}

const types = new Set([
  ...["thread.created", "turn.begun", "model.replied", "context.compacted"],
  ...["noted policy", "noted budget"],
]);

/** What the next request of a thread is compared with. */
interface Thread {
  id: string;
  request: number;
  settings: TurnSettings | null;
  turn: CachedTurn | null;
  /** The newest request, and the settings it was made with. */
  last: { usage: Usage; model: string; atMs: number; settings: TurnSettings | null } | null;
  /** What has happened since then. */
  changes: Set<"compacted" | "tools" | "budget">;
}

function turnsOf(path: string): CachedTurn[] {
  const thread: Thread = { id: "", request: 0, settings: null, turn: null, last: null, changes: new Set() };
  const turns: CachedTurn[] = [];
  for (const line of sessionLines(path, types)) {
    if (line) apply(thread, line, turns);
  }
  return turns;
}

function apply(thread: Thread, { at, record }: SessionLine, turns: CachedTurn[]): void {
  switch (record.type) {
    case "thread.created":
      thread.id = record.threadId;
      thread.settings = record.settings;
      return;
    case "turn.begun":
      thread.settings = record.settings;
      if (record.tools) thread.changes.add("tools");
      thread.turn = newTurn(thread.id, record.turnId, at);
      turns.push(thread.turn);
      return;
    case "noted":
      if (record.kind === "budget") thread.changes.add("budget");
      else if (record.kind === "policy" && "settings" in record.data) thread.settings = record.data.settings;
      return;
    case "model.replied":
      count(thread, record, at);
      return;
    case "context.compacted":
      count(thread, record, at);
      thread.changes.add("compacted");
      return;
  }
}

const newTurn = (threadId: string, turnId: string, at: string): CachedTurn => ({
  ...{ threadId, turnId, at, requests: 0, inputTokens: 0, cachedInputTokens: 0, breaks: [] },
});

type Reply = Pick<RecordOf<"model.replied">, "usage" | "model">;

function count(thread: Thread, { usage, model }: Reply, at: string): void {
  const { turn, last, settings } = thread;
  if (!turn) return;
  thread.request += 1;
  turn.requests += 1;
  turn.inputTokens += usage.inputTokens;
  turn.cachedInputTokens += usage.cachedInputTokens;
  const request = { usage, model, atMs: Date.parse(at), settings };
  const lostTokens = last ? Math.min(last.usage.inputTokens, usage.inputTokens) - usage.cachedInputTokens : 0;
  if (last && lostTokens > last.usage.inputTokens / 10 && lostTokens >= minPromptTokens)
    turn.breaks.push({ request: thread.request, lostTokens, reason: reasonOf({ ...thread, last }, request) });
  thread.last = request;
  thread.changes.clear();
}

/** Providers keep no shorter prompt. */
const minPromptTokens = 1_024;

/** The shortest time that providers keep a prompt. */
const keptMs = 5 * 60_000;

type Request = NonNullable<Thread["last"]>;

function reasonOf({ last, changes }: Thread & { last: Request }, { usage, model, atMs, settings }: Request): string {
  if (changes.has("compacted")) return "the history was compacted before it";
  if (model !== last.model) return `the model changed from ${last.model} to ${model}`;
  if (settings?.provider !== last.settings?.provider)
    return `the provider changed from ${last.settings?.provider} to ${settings?.provider}`;
  if (changes.has("tools")) return "the tools changed: MCP servers offer others than before";
  if (changes.has("budget")) return "the budget was spent: the last request has no tools";
  if (settings?.effort !== last.settings?.effort)
    return `model_reasoning_effort changed from ${last.settings?.effort ?? "none"} to ${settings?.effort ?? "none"}`;
  const pauseMs = atMs - last.atMs;
  if (pauseMs > keptMs) return `${Math.round(pauseMs / 60_000)} minutes after the request before it`;
  if (usage.cachedInputTokens === 0 && last.usage.cachedInputTokens === 0) return "the provider reports no cache reads";
  return "the same beginning was sent; the provider did not have it any more";
}
