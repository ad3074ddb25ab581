import type { ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { readCachedTurns } from "../src/sessions/prompt-cache.ts";
import { begun, created, ended, temporaryHome, writeSession } from "./session-files.ts";

const asked = (inputTokens: number, cachedInputTokens: number, model = "m"): ThreadRecord => ({
  type: "model.replied",
  blocks: [{ type: "message", text: "hi" }],
  usage: { inputTokens, cachedInputTokens, cacheWriteInputTokens: 0, outputTokens: 5, reasoningOutputTokens: 0 },
  model,
  costUsd: null,
});

const compacted: ThreadRecord = {
  ...(asked(50_000, 40_000) as Extract<ThreadRecord, { type: "model.replied" }>),
  type: "context.compacted",
  upTo: 1,
  summary: "so far",
} as ThreadRecord;

const settings = (more: Partial<TurnSettings>): TurnSettings => ({
  model: "m",
  provider: "p",
  cwd: "/w",
  shell: "/bin/sh",
  sandbox: "read-only",
  approval: "never",
  ...more,
});

const policy = (more: Partial<TurnSettings>): ThreadRecord => ({
  type: "noted",
  kind: "policy",
  data: { settings: settings(more) },
});

test("each turn has its hit rate", async () => {
  const home = await temporaryHome();
  writeSession(home, "/w", [
    created("t", "/w"),
    begun("one", "/w", { turnId: "1" }),
    ...[asked(10_000, 0), asked(12_000, 10_000), ended()],
    begun("two", "/w", { turnId: "2" }),
    ...[asked(15_000, 12_000), ended()],
  ]);
  expect(readCachedTurns(home, 0)).toMatchObject([
    { turnId: "1", requests: 2, inputTokens: 22_000, cachedInputTokens: 10_000, breaks: [] },
    { turnId: "2", requests: 1, inputTokens: 15_000, cachedInputTokens: 12_000, breaks: [] },
  ]);
  expect(readCachedTurns(home, Date.now() + 60_000)).toEqual([]);
});

test.each<[what: string, records: ThreadRecord[], reason: RegExp]>([
  ["a compaction", [compacted, asked(9_000, 2_000)], /compacted before it/],
  ["another model", [asked(10_500, 0, "other")], /from m to other/],
  ["another provider", [policy({ provider: "q" }), asked(10_500, 0)], /provider changed from p to q/],
  ["another effort", [policy({ effort: "high" }), asked(10_500, 0)], /effort changed from none to high/],
  ["a spent budget", [{ type: "noted", kind: "budget", data: { spent: "usd" } }, asked(10_500, 0)], /budget was spent/],
  ["a provider without a cache", [asked(10_500, 0)], /reports no cache reads/],
])("the reason why a prefix broke is named: %s", async (_, records, reason) => {
  const home = await temporaryHome();
  const first = begun("one", "/w", { turnId: "1", settings: settings({}) });
  writeSession(home, "/w", [created("t", "/w"), first, asked(10_000, 0), ...records, ended()]);
  const [turn] = readCachedTurns(home, 0);
  expect(turn?.breaks.at(-1)?.reason).toMatch(reason);
  expect(turn?.breaks.at(-1)?.lostTokens).toBeGreaterThan(1_024);
});
