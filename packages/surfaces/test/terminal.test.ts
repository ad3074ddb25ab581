// The live region of a terminal: what is under way, without secrets.
import { type Scrub, type StoredRecord, scrubber } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { terminalView } from "../src/terminal/index.ts";

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, good: plain, bad: plain };
const settings = { cwd: "/r", model: "m", provider: "p", approval: "never", sandbox: "read-only", shell: "/bin/sh" };

/** A view whose turn has begun and runs one command. */
function runningCommand({ columns = 80, rows = 24, scrub = plain as Scrub } = {}) {
  let nowMs = 0;
  const options = { paint, version: "1", scrub, isResumable: true, nowMs: () => nowMs };
  const view = terminalView({ ...options, size: () => ({ columns, rows }) });
  const show = (record: object) =>
    view.show({ seq: 0, at: "2026-01-01T00:00:00Z", record: record as ThreadRecord } satisfies StoredRecord);
  show({ type: "turn.begun", turnId: "t", settings, input: [{ type: "text", text: "go" }] });
  show({ type: "tool.begun", callId: "1.0", name: "exec_command", args: { cmd: "make" } });
  const print = (text: string) => view.progress({ type: "output", callId: "1.0", text });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { view, show, print, pass };
}

test("shows elapsed time, the command and the last lines of its output as they come", () => {
  const { view, print, pass } = runningCommand();
  pass(61_000);
  print("one\ntwo\nthree\nfo");
  print("ur\nfive\nsix\n");
  const output = ["two", "three", "four", "five", "six"];
  expect(view.live()).toEqual({ elapsedMs: 61_000, used: "0 tokens", doing: "running make", output });
});

test("counts the tokens of the whole tree as replies come, those of sub-agents too", () => {
  const { view, show } = runningCommand();
  const usage = { inputTokens: 1_000, cachedInputTokens: 400, cacheWriteInputTokens: 0, outputTokens: 50 };
  const reply = { type: "model.replied", blocks: [], model: "m", usage: { ...usage, reasoningOutputTokens: 0 } };
  show(reply);
  view.agentRecord({ seq: 3, at: "2026-01-01T00:00:00Z", record: reply as unknown as ThreadRecord });
  expect(view.live()).toMatchObject({ used: "1,300 tokens", doing: "running make" });
});

test("shows of a progress bar only its last state", () => {
  const { view, print } = runningCommand();
  print("10%\r50%\r");
  print("90%\r");
  expect(view.live()?.output).toEqual(["90%"]);
});

test("never shows a secret, also one that arrives in two pieces", () => {
  const { view, print } = runningCommand({ scrub: scrubber([{ name: "KEY", value: "sk-secret-0123456789" }]) });
  print("key: sk-secret-");
  expect(view.live()?.output.join()).not.toContain("sk-");
  print("0123456789 end\n");
  expect(view.live()?.output.join()).not.toContain("0123456789");
  expect(view.live()?.output[0]).toContain(" end");
});

test("shows nothing on a terminal that is too small, and nothing after the turn", () => {
  expect(runningCommand({ columns: 12 }).view.live()).toBeNull();
  expect(runningCommand({ rows: 3 }).view.live()).toBeNull();
  const { view, show } = runningCommand();
  show({ type: "turn.ended", turnId: "t", end: { status: "completed", message: "Done." } });
  expect(view.live()).toBeNull();
});
