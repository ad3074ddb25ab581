import { addUsage, noUsage, type StoredRecord } from "@agentcli/engine";
import type { ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { execEvents } from "../src/exec-jsonl.ts";
import { humanText } from "../src/human.ts";

const settings: TurnSettings = {
  model: "scripted",
  provider: "test",
  cwd: "/project",
  shell: "/bin/sh",
  sandbox: "read-only",
  approval: "never",
};
const used = (inputTokens: number) => addUsage(noUsage(), { ...noUsage(), inputTokens });
const replied = (costUsd: number | null): ThreadRecord => ({
  type: "model.replied",
  blocks: [],
  usage: used(1_000),
  model: "scripted",
  costUsd,
});

function turn(agentsCost: number | null): StoredRecord[] {
  const records: ThreadRecord[] = [
    { type: "turn.begun", turnId: "turn", input: [], settings },
    replied(0.1),
    replied(0.2),
    {
      type: "turn.ended",
      turnId: "turn",
      end: { status: "completed", message: "Done." },
      agents: { usage: used(500), costUsd: agentsCost },
    },
  ];
  return records.map((record, index) => ({ seq: index + 1, at: "2026-01-01T00:00:00Z", record }));
}

test("turn.completed has the usage and the cost of the whole tree, as a decimal without binary noise", () => {
  const events = turn(0.000_000_4).flatMap(execEvents());
  expect(events.at(-1)).toMatchObject({
    type: "turn.completed",
    usage: { input_tokens: 2_500 },
    cost_usd: "0.300000",
  });
});

test("an unknown price of a sub-agent makes the cost unknown", () => {
  expect(turn(null).flatMap(execEvents()).at(-1)).toMatchObject({ cost_usd: null, usage: { input_tokens: 2_500 } });
});

test("the last line for people has the tokens and the cost of the whole tree", () => {
  const plain = (text: string) => text;
  const show = humanText({ bold: plain, dim: plain, good: plain, bad: plain }, "1");
  expect(turn(0.7).map(show).join("")).toMatch(/tokens used\n2,500 \(1\.000000 USD\)\n$/);
});
