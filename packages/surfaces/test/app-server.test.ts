// The log as clients of the app server see it.

import { type Progress, type StoredRecord, scrubber } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { serverNotifications } from "@agentcli/protocol/app-server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calls, settings, usage } from "../../engine/test/thread-harness.ts";
import { type Notice, threadView } from "../src/app-server/index.ts";
import { streamedText } from "../src/streamed.ts";

const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 200);

function opened(scrub = (text: string) => text) {
  const view = threadView({ threadId: "thread", scrub, now: () => 0, contextWindow: () => 100 });
  let seq = 0;
  const stored: StoredRecord[] = [];
  const write = (...records: ThreadRecord[]): Notice[] =>
    records.flatMap((record) => {
      seq += 1;
      stored.push({ seq, at: new Date(seq * 1000).toISOString(), record });
      return checked(view.apply(stored.at(-1) as StoredRecord));
    });
  const progress = (news: Progress): Notice[] => checked(view.progress(news));
  return { view, write, progress, stored };
}

/** Every notification matches its schema. */
function checked(notices: Notice[]): Notice[] {
  for (const { method, params } of notices) serverNotifications[method].parse(params);
  return notices;
}

const begun = (text: string): ThreadRecord => ({
  type: "turn.begun",
  turnId: "turn",
  input: [{ type: "text", text }],
  settings: { ...settings, approval: "on-request" },
});
const replied = (text: string): ThreadRecord => ({
  type: "model.replied",
  blocks: [{ type: "message", text }],
  usage: usage(10),
  model: "scripted",
});
const wants = (...blocks: ReturnType<typeof calls>[]): ThreadRecord => ({
  type: "model.replied",
  blocks,
  usage: usage(10),
  model: "scripted",
});
const ended: ThreadRecord = { type: "turn.ended", turnId: "turn", end: { status: "completed", message: "Done." } };
const ran = (callId: string, output: string, exitCode = 0): ThreadRecord => ({
  type: "tool.settled",
  callId,
  outcome: {
    status: exitCode === 0 ? "completed" : "failed",
    parts: [],
    detail: { kind: "command", output, exitCode, cursor: 1, durationMs: 5.5 },
  },
});
const started = (callId: string, name: string, args: object): ThreadRecord =>
  ({ type: "tool.begun", callId, name, args, incarnation: "i", onResume: "once" }) as ThreadRecord;

const names = (notices: Notice[]): string[] => notices.map(({ method }) => method);

describe("a turn", () => {
  test("reports usage when the calls of the reply are settled", () => {
    const { write } = opened();
    write(begun("go"));
    expect(names(write(wants(calls("exec_command", { cmd: "ls" }))))).toEqual([]);
    expect(names(write(started("2.0", "exec_command", { cmd: "ls" })))).toEqual(["item/started"]);
    expect(names(write(ran("2.0", "a\n")))).toEqual([
      "item/commandExecution/outputDelta",
      "item/completed",
      "thread/tokenUsage/updated",
    ]);
  });

  test("shows a call before its approval request, and once", () => {
    const { write, view } = opened();
    write(begun("go"), wants(calls("exec_command", { cmd: "ls" })));
    const asked = { asked: true, callId: "2.0", name: "exec_command", args: { cmd: "ls" }, reason: "why" } as const;
    expect(names(write({ type: "noted", kind: "approval", data: asked }))).toEqual([
      "item/started",
      "thread/status/changed",
    ]);
    expect(view.status()).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    const answered = { callId: "2.0", decision: "accept", by: "user", args: { cmd: "ls" } } as const;
    expect(names(write({ type: "noted", kind: "approval", data: answered }))).toEqual(["thread/status/changed"]);
    expect(write(started("2.0", "exec_command", { cmd: "ls" }))).toEqual([]);
    expect(names(write(ran("2.0", "")))).toEqual(["item/completed", "thread/tokenUsage/updated"]);
  });

  test("gives a retried reply the same item again, with its text from the start", () => {
    const { write, progress, view } = opened();
    write(begun("go"));
    const [first] = progress({ type: "text", delta: "Hello wor" });
    progress({ type: "retrying", attempt: 1, of: 5, delayMs: 0, reason: "cut" });
    const again = progress({ type: "text", delta: "Hello world, again" });
    expect(names(again)).toEqual(["item/started", "item/agentMessage/delta"]);
    const idOf = (notice: Notice | undefined) => (notice?.method === "item/started" ? notice.params.item.id : "");
    expect(idOf(again[0])).toBe(idOf(first));
    write(replied("Hello world, again"));
    expect(view.turns()[0]?.items.map(({ type }) => type)).toEqual(["userMessage", "agentMessage"]);
  });

  test("starts a streamed item without the text that the deltas after it bring", () => {
    const { write, progress } = opened();
    write(begun("go"));
    const notices = [
      ...progress({ type: "reasoning", delta: "Let me" }),
      ...progress({ type: "reasoning", delta: " see." }),
      ...progress({ type: "text", delta: "Hello " }),
      ...progress({ type: "text", delta: "world" }),
    ];
    const shown = notices.map(({ method, params }) =>
      method === "item/started" ? params.item : "delta" in params ? params.delta : method,
    );
    expect(shown).toMatchObject([
      { type: "reasoning", summary: [] },
      "item/reasoning/summaryPartAdded",
      "Let me",
      " see.",
      { type: "agentMessage", text: "" },
      "Hello ",
      "world",
    ]);
  });

  test("shows the received part of an unfinished reply", () => {
    const { write, progress } = opened();
    write(begun("go"));
    progress({ type: "text", delta: "I was going to " });
    const end = write({ type: "turn.ended", turnId: "turn", end: { status: "cancelled", reason: "stop" } });
    expect(names(end)).toEqual(["item/completed", "thread/status/changed", "turn/completed"]);
    expect(end.at(-1)?.params).toMatchObject({ turn: { status: "interrupted" } });
  });

  test("that fails reports the reason in both notifications", () => {
    const { write } = opened();
    write(begun("go"));
    const end = write({
      type: "turn.ended",
      turnId: "turn",
      end: { status: "failed", code: "context_window", message: "full" },
    });
    const error = { message: "full", errorInfo: "contextWindowExceeded", codexErrorInfo: "contextWindowExceeded" };
    expect(end).toMatchObject([
      { method: "error", params: { error, willRetry: false } },
      { method: "thread/status/changed" },
      { method: "turn/completed", params: { turn: { status: "failed", error } } },
    ]);
  });

  test("shows the phase of messages, an empty last message, and which one is the answer", () => {
    const { write } = opened();
    write(begun("go"));
    const blocks = [
      { type: "message" as const, text: "Looking.", phase: "commentary" as const },
      { type: "message" as const, text: "The answer.", phase: "final_answer" as const },
      { type: "message" as const, text: "", phase: "commentary" as const },
    ];
    const shown = write({ type: "model.replied", blocks, usage: usage(10), model: "scripted" });
    const items = shown.flatMap(({ method, params }) => (method === "item/completed" ? [params.item] : []));
    expect(items).toMatchObject([
      { text: "Looking.", phase: "commentary" },
      { text: "The answer.", phase: "final_answer" },
      { text: "", phase: "commentary" },
    ]);
    const end = { status: "completed", message: "The answer." } as const;
    expect(write({ type: "turn.ended", turnId: "turn", end }).at(-1)?.params).toMatchObject({
      turn: { items: [{ text: "The answer.", phase: "final_answer" }] },
    });
  });

  test("with commentary alone has completed without an answer", () => {
    const { write } = opened();
    write(begun("go"));
    const blocks = [{ type: "message" as const, text: "Looking.", phase: "commentary" as const }];
    write({ type: "model.replied", blocks, usage: usage(10), model: "scripted" });
    const end = { status: "failed", code: "empty", message: "The model gave no final message." } as const;
    const notices = write({ type: "turn.ended", turnId: "turn", end });
    expect(names(notices)).toEqual(["thread/status/changed", "turn/completed"]);
    expect(notices.at(-1)?.params).toMatchObject({ turn: { status: "completed", error: null, items: [] } });
  });

  test("takes as long as its records say, to the millisecond", () => {
    const view = threadView({ threadId: "thread", scrub: (text) => text, now: () => 0, contextWindow: () => 100 });
    view.apply({ seq: 1, at: "2026-01-01T00:00:00.900Z", record: begun("go") });
    const notices = view.apply({ seq: 2, at: "2026-01-01T00:00:01.150Z", record: ended });
    expect(notices.at(-1)?.params).toMatchObject({ turn: { durationMs: 250 } });
  });

  test("reports no output for a command whose outcome is unknown", () => {
    const { write, progress } = opened();
    write(begun("go"), wants(calls("exec_command", { cmd: "ls" })), started("2.0", "exec_command", { cmd: "ls" }));
    progress({ type: "output", callId: "2.0", text: "a\n" });
    const outcome = {
      status: "interrupted" as const,
      parts: [],
      reason: "Unknown.",
      detail: { kind: "none" as const },
    };
    const notices = write({ type: "tool.settled", callId: "2.0", outcome });
    expect(names(notices)).toEqual(["item/completed", "thread/tokenUsage/updated"]);
    expect(notices[0]?.params).toMatchObject({ item: { status: "failed", aggregatedOutput: "a\n" } });
  });

  test("streams each message of a reply as its own item", () => {
    const { write, progress } = opened();
    write(begun("go"));
    const block = (text: string) => ({ type: "message" as const, text });
    const idsOf = (notices: Notice[]) =>
      notices.flatMap(({ method, params }) => (method === "item/agentMessage/delta" ? [params.itemId] : []));
    const first = progress({ type: "text", delta: "One." });
    progress({ type: "settled", block: block("One.") });
    const second = progress({ type: "text", delta: "Two." });
    progress({ type: "settled", block: block("Two.") });
    expect(idsOf(second)).not.toEqual(idsOf(first));
    const notices = write({
      type: "model.replied",
      blocks: [block("One."), block("Two.")],
      usage: usage(10),
      model: "scripted",
    });
    expect(idsOf(notices)).toEqual([]);
    expect(notices.filter(({ method }) => method === "item/completed")).toMatchObject([
      { params: { item: { id: idsOf(first)[0], text: "One." } } },
      { params: { item: { id: idsOf(second)[0], text: "Two." } } },
    ]);
  });

  test("ends commands that are still running", () => {
    const { write, progress, view } = opened();
    write(
      begun("go"),
      wants(calls("exec_command", { cmd: "serve" })),
      started("2.0", "exec_command", { cmd: "serve" }),
    );
    progress({ type: "output", callId: "2.0", text: "listening on 80\n" });
    const detail = { kind: "command" as const, output: "", exitCode: null, sessionId: 7, cursor: 1, durationMs: 1 };
    write({ type: "tool.settled", callId: "2.0", outcome: { status: "completed", parts: [], detail } });
    write(replied("It runs."), ended);
    expect(view.turns()[0]?.items[1]).toMatchObject({
      type: "commandExecution",
      processId: "7",
      status: "failed",
      exitCode: null,
      aggregatedOutput: "listening on 80\n",
    });
  });

  test("shows file changes with their edits, and all of them as a diff", () => {
    const { write, view } = opened();
    const input =
      "*** Begin Patch\n*** Update File: a.txt\n@@ def f\n keep\n-old\n+new\n keep too\n*** Add File: b.txt\n+b\n*** End Patch";
    write(begun("go"), wants(calls("apply_patch", { input })), started("2.0", "apply_patch", { input }));
    const changes = [
      { path: "a.txt", kind: "update" as const },
      { path: "b.txt", kind: "add" as const },
    ];
    const notifications = write({
      type: "tool.settled",
      callId: "2.0",
      outcome: { status: "completed", parts: [], detail: { kind: "patch", changes } },
    });
    expect(names(notifications)).toEqual(["item/completed", "turn/diff/updated", "thread/tokenUsage/updated"]);
    expect(view.turns()[0]?.items[1]).toMatchObject({
      changes: [
        {
          path: "a.txt",
          kind: { type: "update", move_path: null },
          diff: "@@ -1,3 +1,3 @@ def f\n keep\n-old\n+new\n keep too\n",
        },
        { path: "b.txt", kind: { type: "add" }, diff: "b\n" },
      ],
    });
    expect(notifications[1]?.params).toMatchObject({
      diff: expect.stringContaining("+++ b/b.txt\n@@ -0,0 +1,1 @@\n+b\n"),
    });
  });

  test("reports hooks, warnings and unsupported calls", () => {
    const { write } = opened();
    write(begun("go"), wants(calls("nonsense", {})));
    const hook = {
      event: "PreToolUse",
      source: "project",
      key: "/p/hooks.json:PreToolUse:0",
      status: "blocked",
      reason: "no",
      durationMs: 12,
    } as const;
    expect(write({ type: "noted", kind: "hook", data: hook })).toMatchObject([
      { method: "hook/started", params: { run: { eventName: "preToolUse", status: "running" } } },
      { method: "hook/completed", params: { run: { status: "blocked", durationMs: 12, sourcePath: "/p/hooks.json" } } },
    ]);
    expect(names(write({ type: "noted", kind: "warning", data: { message: "careful" } }))).toEqual(["warning"]);
    const reason = "unsupported call: nonsense";
    const outcome = { status: "failed" as const, parts: [], reason, detail: { kind: "none" as const } };
    expect(write({ type: "tool.settled", callId: "2.0", outcome })[0]).toMatchObject({
      method: "warning",
      params: { message: reason },
    });
  });
});

test("replaying a log gives the turns that were shown, whatever was streamed", () => {
  const step = fc.oneof(
    fc.string({ maxLength: 40 }).map((delta): Progress => ({ type: "text", delta })),
    fc.string({ maxLength: 20 }).map((delta): Progress => ({ type: "reasoning", delta })),
    fc.string({ maxLength: 40 }).map((text): Progress => ({ type: "output", callId: "2.0", text })),
    fc.constant<Progress>({ type: "retrying", attempt: 1, of: 2, delayMs: 0, reason: "cut" }),
  );
  const property = fc.property(fc.array(step, { maxLength: 12 }), fc.string({ minLength: 1 }), (steps, words) => {
    const { view, write, progress, stored } = opened();
    write(begun("go"));
    for (const news of steps) progress(news);
    write(wants(calls("exec_command", { cmd: "ls" })), started("2.0", "exec_command", { cmd: "ls" }));
    for (const news of steps) progress(news);
    write(ran("2.0", words, 1), replied(words), ended);
    const replayed = opened();
    for (const { record } of stored) replayed.write(record);
    expect(view.turns()).toEqual(replayed.view.turns());
  });
  fc.assert(property, { numRuns: fuzzRuns });
});

describe("streamed text", () => {
  test("ends with the whole text however it is split, and never shows a secret", () => {
    const secret = "sk-0123456789abcdef";
    const scrub = scrubber([{ name: "KEY", value: secret }]);
    const property = fc.property(
      fc.array(fc.oneof(fc.string({ maxLength: 12 }), fc.constant(secret), fc.constant(" ")), { maxLength: 12 }),
      fc.array(fc.nat({ max: 30 }), { maxLength: 20 }),
      (parts, cuts) => {
        const whole = parts.join("");
        const stream = streamedText(scrub);
        let shown = "";
        let at = 0;
        for (const cut of cuts) {
          shown += stream.add(whole.slice(at, at + cut));
          at += cut;
        }
        shown += stream.add(whole.slice(at));
        shown += stream.rest(scrub(whole));
        expect(shown).toBe(scrub(whole));
        expect(shown).not.toContain(secret);
      },
    );
    fc.assert(property, { numRuns: fuzzRuns });
  });
});

test("searches of the provider and of our own tools are webSearch items", () => {
  const { write, view } = opened();
  write(begun("Look it up."));
  const action = { type: "open_page", url: "https://example.com" } as const;
  write({ type: "model.replied", blocks: [{ type: "web_search", action }], usage: usage(10), model: "scripted" });
  write(wants(calls("web_search", { query: "news" })));
  const callId = "3.0";
  write({
    type: "tool.begun",
    callId,
    name: "web_search",
    args: { query: "news" },
    incarnation: "i",
    onResume: "rerun",
  });
  write({ type: "tool.settled", callId, outcome: { status: "completed", parts: [], detail: { kind: "none" } } });
  const items = view
    .turns()
    .at(-1)
    ?.items.filter(({ type }) => type === "webSearch");
  expect(items).toMatchObject([
    { query: "https://example.com", action: { type: "openPage", url: "https://example.com" } },
    { query: "news", action: { type: "search", query: "news" } },
  ]);
});
