// Notes that earlier versions wrote: every kind and shape still validates, folds and is shown.
import { readFileSync } from "node:fs";
import type { SessionLine } from "@agentcli/protocol";
import { SessionLine as SessionLineSchema } from "@agentcli/protocol";
import { validateSessionLine } from "@agentcli/protocol/validators/session-line";
import { expect, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { apply, emptyThread } from "../src/index.ts";

const lines: SessionLine[] = readFileSync(new URL("fixtures/notes-v1.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

function fold(upTo = lines.length) {
  const state = emptyThread("thread");
  for (const line of lines.slice(0, upTo)) apply(state, line);
  return state;
}

test("the fixture has every kind of note", () => {
  const kinds = lines.flatMap(({ record }) => (record.type === "noted" ? [record.kind] : []));
  const all = ["approval", "budget", "hook", "mcp", "policy", "retry", "sandbox", "warning"];
  expect([...new Set(kinds)].sort()).toEqual(all);
});

test.each(lines.map((line) => [line.seq, line] as const))("line %i validates, with unknown members too", (_, line) => {
  expect(validateSessionLine(line)).toBe(true);
  expect(SessionLineSchema.parse(line)).toEqual(line);
  const { record } = line;
  if (record.type !== "noted") return;
  const extended = { ...line, record: { ...record, later: 1, data: { ...record.data, later: { added: [null] } } } };
  expect(validateSessionLine(extended)).toBe(true);
  expect(SessionLineSchema.safeParse(extended).success).toBe(true);
});

test("data of the wrong shape is refused by the full check", () => {
  const note = { type: "noted", kind: "budget", data: { spent: "patience" } };
  expect(validateSessionLine({ v: 1, seq: 1, at: "2026-11-16T12:00:00.000Z", record: note })).toBe(false);
});

test("folding them gives the same state as before they had types", () => {
  const { turn, account, settings } = fold();
  expect(turn?.hooks).toEqual({
    prompted: true,
    context: ["mind the gap"],
    continuations: 1,
    halted: { message: "The UserPromptSubmit hook ended the turn: no", hook: "project" },
  });
  expect(turn?.calls.map(({ approval }) => approval)).toEqual([
    {
      decision: "decline",
      args: JSON.stringify({ cmd: "touch made.txt", sandbox_permissions: "require_escalated" }),
      outside: false,
    },
  ]);
  expect(turn?.ledger).toMatchObject({ usd: 0.000001, tokens: 111, requests: 2, tools: 0 });
  expect(account.ledger).toEqual(turn?.ledger);
  expect(settings).toMatchObject({ model: "other", sandbox: "read-only", budget: { turns: 7 } });
  expect(turn?.settings).toEqual(settings);
});

test("an approval counts until the next decision, and the wrap-up until the settings change", () => {
  expect(fold(5).turn?.calls[0]?.approval).toMatchObject({ decision: "accept", outside: true });
  expect(fold(10).turn?.wrappingUp).toBe("turns");
  expect(fold().turn?.wrappingUp).toBeUndefined();
});

test("the event stream shows them as before", () => {
  const show = execEvents();
  const shown = lines.flatMap((line) =>
    show(line).map(({ type, ...event }) => ("item" in event ? event.item.type : type)),
  );
  expect(shown).toEqual([
    "turn.started",
    ...Array(5).fill("hook"),
    "mcp_server",
    "error",
    "error",
    "thread.started",
    "turn.started",
    "error",
  ]);
});
