import { describe, expect, test } from "vitest";
import { drive, type ModelReply, readThread } from "../src/index.ts";
import { type Answer, hook, openHookHarness, outputs, shell, specific } from "./hook-harness.ts";
import { calls, replies, textReply } from "./thread-harness.ts";

describe("hooks at the beginning of a turn", () => {
  test.each<[string, Answer]>([
    ["words", { stdout: "mind the gap" }],
    ["JSON", specific("UserPromptSubmit", { additionalContext: "mind the gap" })],
  ])("add context by %s", async (_, answer) => {
    const at = await openHookHarness([[hook("UserPromptSubmit"), answer]]);
    await at.run("what now?");
    expect(at.received[0]?.payload).toMatchObject({ prompt: "what now?", hook_event_name: "UserPromptSubmit" });
    expect(JSON.stringify(at.thread.requests[0]?.messages.at(-1))).toContain("mind the gap");
  });

  test.each<[string, string, Answer]>([
    ["UserPromptSubmit", "a decision", { stdout: { decision: "block", reason: "no" } }],
    ["UserPromptSubmit", "exit code 2", { exitCode: 2, stderr: "no" }],
    ["UserPromptSubmit", "continue", { stdout: { continue: false, stopReason: "no" } }],
    ["SessionStart", "continue", { stdout: { continue: false, stopReason: "no" } }],
    ["beforeSubmitPrompt", "continue", { stdout: { continue: false, user_message: "no" } }],
    ["beforeSubmitPrompt", "exit code 2", { exitCode: 2, stdout: "no" }],
  ])("%s ends it by %s before any model request", async (event, _, answer) => {
    const at = await openHookHarness([[hook(event), answer]]);
    expect((await at.run()).end).toEqual({
      status: "failed",
      code: "hook",
      message: `The ${event} hook ended the turn: no`,
      hook: "project",
    });
    expect(at.thread.requests).toEqual([]);
  });

  test("run once for a prompt, also when the turn is resumed", async () => {
    const at = await openHookHarness([
      [hook("UserPromptSubmit"), { stdout: "context" }],
      [hook("SessionStart"), {}],
    ]);
    await at.thread.begin("go on");
    await at.thread.dependencies.hooks?.begin({ ...at.thread.dependencies, ...fresh, log: at.thread.log });
    await drive(at.thread.log, at.thread.dependencies, fresh.signal);
    expect(at.received.map(({ event }) => event)).toEqual(["SessionStart", "UserPromptSubmit"]);
    expect(at.received[0]?.payload).toMatchObject({ source: "startup" });
    expect(at.received[0]?.payload).not.toHaveProperty("turn_id");
    const { state } = await readThread(at.thread.store, "thread");
    expect(state).toEqual(at.thread.log.state);
  });

  test("set variables for later hooks", async () => {
    const env = { stdout: { env: { TEAM: "blue" }, additional_context: "the blue team" } };
    const at = await openHookHarness(
      [
        [hook("sessionStart"), env],
        [hook("beforeShellExecution"), { stdout: {} }],
      ],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(at.received.map(({ request }) => request.environment)).toEqual([{ TEAM: "blue" }, { TEAM: "blue" }]);
    expect(JSON.stringify(at.thread.requests[0]?.messages)).toContain("the blue team");
  });
});

describe("hooks at the end of a turn", () => {
  test.each<[string, Answer]>([
    ["Stop", { stdout: { decision: "block", reason: "more" } }],
    ["Stop", { exitCode: 2, stderr: "more" }],
    ["stop", { stdout: { followup_message: "more" } }],
    ["stop", { stdout: { decision: "block", reason: "more" } }],
  ])("%s makes the agent continue, and its next payload says so", async (event, answer) => {
    const at = await openHookHarness([[hook(event), answer, { stdout: {} }]], [textReply("One."), textReply("Two.")]);
    expect((await at.run()).end).toEqual({ status: "completed", message: "Two." });
    expect(JSON.stringify(at.thread.requests[1]?.messages.at(-1))).toContain("more");
    const key = event === "Stop" ? "stop_hook_active" : "loop_count";
    expect(at.received.map(({ payload }) => payload[key])).toEqual(event === "Stop" ? [false, true] : [0, 1]);
  });

  test.each<[string, number | null, number]>([
    ["stop", 3, 3],
    ["Stop", null, 50],
  ])("%s with a limit of %s sends it on %s times at most", async (event, loopLimit, times) => {
    const answer = event === "stop" ? { stdout: { followup_message: "more" } } : { exitCode: 2, stderr: "more" };
    const at = await openHookHarness([[hook(event, { loopLimit }), answer]], []);
    expect((await at.run()).end).toMatchObject({ status: "completed" });
    expect(at.thread.requests).toHaveLength(times + 1);
    expect(at.notes().at(-1)).toMatchObject({ status: "skipped" });
  });

  test("Stop ends the turn with continue: false, and fails with output that is not JSON", async () => {
    const both = { stdout: { decision: "block", reason: "more", continue: false } };
    expect((await (await openHookHarness([[hook("Stop"), both]])).run()).end).toMatchObject({ status: "completed" });
    const words = await openHookHarness([[hook("Stop"), { stdout: "fine" }]]);
    await words.run();
    expect(words.notes()).toMatchObject([{ status: "failed", reason: "its output is not JSON" }]);
  });
});

describe("hooks at the end of a session", () => {
  test.each<[string, ModelReply, Record<string, unknown>[]]>([
    ["well", textReply("Done."), [{ reason: "completed", final_status: "completed" }]],
    [
      "badly",
      { kind: "fault", fault: { code: "refused", message: "No." } },
      [
        { status: "error", hook_event_name: "stop" },
        { reason: "error", error_message: "No." },
      ],
    ],
  ])("that ended %s hear how", async (_, reply, payloads) => {
    const at = await openHookHarness(
      [
        [hook("sessionEnd"), {}],
        [hook("stop"), { stdout: {} }],
        [hook("SessionEnd"), {}],
      ],
      [reply],
    );
    await at.runLast();
    const ending = at.received.slice(-payloads.length - 1).map(({ payload }) => payload);
    expect(ending).toMatchObject([...payloads, { hook_event_name: "SessionEnd" }]);
    expect(at.thread.types().slice(-2)).toEqual(["noted", "turn.ended"]);
    expect(at.received.at(-1)?.payload).toEqual({
      session_id: "thread",
      transcript_path: "/sessions/thread.jsonl",
      cwd: "/project",
      hook_event_name: "SessionEnd",
      reason: "other",
    });
  });
});

describe("a managed hook that fails", () => {
  const managed = { source: { kind: "managed", path: "/etc/requirements.toml" } } as const;
  test.each(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "beforeShellExecution", "stop"])(
    "ends the turn: %s",
    async (event) => {
      const at = await openHookHarness([[hook(event, managed), { exitCode: 1 }]], [shell("ls"), textReply("Done.")]);
      expect((await at.run()).end).toMatchObject({ status: "failed", code: "hook", hook: "managed" });
    },
  );
});

describe("hooks before and after a compaction", () => {
  const long = (text: string): ModelReply =>
    replies([{ type: "message", text }, calls("exec_command", { cmd: "ls" })], 5000);
  const compactAt = { compactAt: 1000 };
  const go = async (at: Awaited<ReturnType<typeof openHookHarness>>) => {
    await at.thread.begin("go on", compactAt);
    return drive(at.thread.log, at.thread.dependencies, fresh.signal);
  };

  test("run before and after, and again for the session start", async () => {
    const at = await openHookHarness(
      [
        [hook("PreCompact", { matcher: "auto" }), {}],
        [hook("PostCompact"), {}],
        [hook("SessionStart", { matcher: "compact" }), { stdout: "remember" }],
        [hook("preCompact"), {}],
      ],
      [long("Working."), textReply("A summary."), textReply("Done.")],
    );
    expect((await go(at)).end).toEqual({ status: "completed", message: "Done." });
    expect(at.received.map(({ event }) => event)).toEqual(["PreCompact", "preCompact", "PostCompact", "SessionStart"]);
    expect(at.received[1]?.payload).toMatchObject({
      trigger: "auto",
      is_first_compaction: true,
      context_window_size: 1111,
    });
    expect(JSON.stringify(at.thread.requests.at(-1)?.messages)).toContain("remember");
  });

  test("can end the turn", async () => {
    const answer = { stdout: { continue: false, stopReason: "keep it all" } };
    const at = await openHookHarness([[hook("PreCompact"), answer]], [long("Working."), textReply("A summary.")]);
    expect((await go(at)).end).toMatchObject({ status: "failed", code: "hook" });
    expect(at.thread.types()).not.toContain("context.compacted");
  });
});

describe("async hooks", () => {
  test("reach the model later and end with the turn", async () => {
    const later = { stdout: "" };
    const at = await openHookHarness(
      [[hook("PostToolUse", { async: true }), { exitCode: 2, stderr: "too late" }, later]],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(outputs(at)[0]).toContain("ran ls");
    expect(at.notes()).toHaveLength(1);
    expect(at.thread.types().at(-1)).toBe("turn.ended");
  });
});

const fresh = { signal: new AbortController().signal, reservations: new Map() };
