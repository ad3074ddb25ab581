import { describe, expect, test } from "vitest";
import { drive, type ModelReply, readThread } from "../src/index.ts";
import { hook, hooked, outputs, type Said, shell, specific } from "./hook-bench.ts";
import { calls, replies, says } from "./memory.ts";

describe("hooks at the beginning of a turn", () => {
  test.each<[string, Said]>([
    ["words", { stdout: "mind the gap" }],
    ["JSON", specific("UserPromptSubmit", { additionalContext: "mind the gap" })],
  ])("add context by %s", async (_, said) => {
    const at = await hooked([[hook("UserPromptSubmit"), said]]);
    await at.run("what now?");
    expect(at.told[0]?.payload).toMatchObject({ prompt: "what now?", hook_event_name: "UserPromptSubmit" });
    expect(JSON.stringify(at.thread.requests[0]?.messages.at(-1))).toContain("mind the gap");
  });

  test.each<[string, string, Said]>([
    ["UserPromptSubmit", "a decision", { stdout: { decision: "block", reason: "no" } }],
    ["UserPromptSubmit", "exit code 2", { exitCode: 2, stderr: "no" }],
    ["UserPromptSubmit", "continue", { stdout: { continue: false, stopReason: "no" } }],
    ["SessionStart", "continue", { stdout: { continue: false, stopReason: "no" } }],
    ["beforeSubmitPrompt", "continue", { stdout: { continue: false, user_message: "no" } }],
    ["beforeSubmitPrompt", "exit code 2", { exitCode: 2, stdout: "no" }],
  ])("%s ends it by %s before anything is asked", async (event, _, said) => {
    const at = await hooked([[hook(event), said]]);
    expect((await at.run()).end).toEqual({
      status: "failed",
      code: "hook",
      message: `The ${event} hook ended the turn: no`,
      hook: "project",
    });
    expect(at.thread.requests).toEqual([]);
  });

  test("are asked once about a prompt, also when the turn is taken up again", async () => {
    const at = await hooked([
      [hook("UserPromptSubmit"), { stdout: "context" }],
      [hook("SessionStart"), {}],
    ]);
    await at.thread.begin("go on");
    await at.thread.dependencies.hooks?.begin({ ...at.thread.dependencies, ...fresh, log: at.thread.log });
    await drive(at.thread.log, at.thread.dependencies, fresh.signal);
    expect(at.told.map(({ event }) => event)).toEqual(["SessionStart", "UserPromptSubmit"]);
    expect(at.told[0]?.payload).toMatchObject({ source: "startup" });
    expect(at.told[0]?.payload).not.toHaveProperty("turn_id");
    const { state } = await readThread(at.thread.store, "thread");
    expect(state).toEqual(at.thread.log.state);
  });

  test("set variables for those that come later", async () => {
    const env = { stdout: { env: { TEAM: "blue" }, additional_context: "the blue team" } };
    const at = await hooked(
      [
        [hook("sessionStart"), env],
        [hook("beforeShellExecution"), { stdout: {} }],
      ],
      [shell("ls"), says("Done.")],
    );
    await at.run();
    expect(at.told.map(({ request }) => request.environment)).toEqual([{ TEAM: "blue" }, { TEAM: "blue" }]);
    expect(JSON.stringify(at.thread.requests[0]?.messages)).toContain("the blue team");
  });
});

describe("hooks at the end of a turn", () => {
  test.each<[string, Said]>([
    ["Stop", { stdout: { decision: "block", reason: "more" } }],
    ["Stop", { exitCode: 2, stderr: "more" }],
    ["stop", { stdout: { followup_message: "more" } }],
    ["stop", { stdout: { decision: "block", reason: "more" } }],
  ])("%s sends the agent on, and is told that it did", async (event, said) => {
    const at = await hooked([[hook(event), said, { stdout: {} }]], [says("One."), says("Two.")]);
    expect((await at.run()).end).toEqual({ status: "completed", message: "Two." });
    expect(JSON.stringify(at.thread.requests[1]?.messages.at(-1))).toContain("more");
    const key = event === "Stop" ? "stop_hook_active" : "loop_count";
    expect(at.told.map(({ payload }) => payload[key])).toEqual(event === "Stop" ? [false, true] : [0, 1]);
  });

  test.each<[string, number | null, number]>([
    ["stop", 3, 3],
    ["Stop", null, 50],
  ])("%s with a limit of %s sends it on %s times at most", async (event, loopLimit, times) => {
    const said = event === "stop" ? { stdout: { followup_message: "more" } } : { exitCode: 2, stderr: "more" };
    const at = await hooked([[hook(event, { loopLimit }), said]], []);
    expect((await at.run()).end).toMatchObject({ status: "completed" });
    expect(at.thread.requests).toHaveLength(times + 1);
    expect(at.notes().at(-1)).toMatchObject({ status: "skipped" });
  });

  test("Stop ends after all when it says not to continue, and fails with words", async () => {
    const both = { stdout: { decision: "block", reason: "more", continue: false } };
    expect((await (await hooked([[hook("Stop"), both]])).run()).end).toMatchObject({ status: "completed" });
    const words = await hooked([[hook("Stop"), { stdout: "fine" }]]);
    await words.run();
    expect(words.notes()).toMatchObject([{ status: "failed", reason: "its output is not JSON" }]);
  });
});

describe("hooks at the end of a session", () => {
  test.each<[string, ModelReply, Record<string, unknown>[]]>([
    ["well", says("Done."), [{ reason: "completed", final_status: "completed" }]],
    [
      "badly",
      { kind: "fault", fault: { code: "refused", message: "No." } },
      [
        { status: "error", hook_event_name: "stop" },
        { reason: "error", error_message: "No." },
      ],
    ],
  ])("that ended %s hear how", async (_, reply, payloads) => {
    const at = await hooked(
      [
        [hook("sessionEnd"), {}],
        [hook("stop"), { stdout: {} }],
        [hook("SessionEnd"), {}],
      ],
      [reply],
    );
    await at.runLast();
    const ending = at.told.slice(-payloads.length - 1).map(({ payload }) => payload);
    expect(ending).toMatchObject([...payloads, { hook_event_name: "SessionEnd" }]);
    expect(at.thread.types().slice(-2)).toEqual(["noted", "turn.ended"]);
    expect(at.told.at(-1)?.payload).toEqual({
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
      const at = await hooked([[hook(event, managed), { exitCode: 1 }]], [shell("ls"), says("Done.")]);
      expect((await at.run()).end).toMatchObject({ status: "failed", code: "hook", hook: "managed" });
    },
  );
});

describe("hooks around a compaction", () => {
  const long = (text: string): ModelReply =>
    replies([{ type: "message", text }, calls("exec_command", { cmd: "ls" })], 5000);
  const compactAt = { compactAt: 1000 };
  const go = async (at: Awaited<ReturnType<typeof hooked>>) => {
    await at.thread.begin("go on", compactAt);
    return drive(at.thread.log, at.thread.dependencies, fresh.signal);
  };

  test("are told before and after, and that the session starts anew", async () => {
    const at = await hooked(
      [
        [hook("PreCompact", { matcher: "auto" }), {}],
        [hook("PostCompact"), {}],
        [hook("SessionStart", { matcher: "compact" }), { stdout: "remember" }],
        [hook("preCompact"), {}],
      ],
      [long("Working."), says("A summary."), says("Done.")],
    );
    expect((await go(at)).end).toEqual({ status: "completed", message: "Done." });
    expect(at.told.map(({ event }) => event)).toEqual(["PreCompact", "preCompact", "PostCompact", "SessionStart"]);
    expect(at.told[1]?.payload).toMatchObject({
      trigger: "auto",
      is_first_compaction: true,
      context_window_size: 1111,
    });
    expect(JSON.stringify(at.thread.requests.at(-1)?.messages)).toContain("remember");
  });

  test("end the turn when they do not want it", async () => {
    const said = { stdout: { continue: false, stopReason: "keep it all" } };
    const at = await hooked([[hook("PreCompact"), said]], [long("Working."), says("A summary.")]);
    expect((await go(at)).end).toMatchObject({ status: "failed", code: "hook" });
    expect(at.thread.types()).not.toContain("context.compacted");
  });
});

describe("what nobody waits for", () => {
  test("tells the model later and is over with the turn", async () => {
    const later = { stdout: "" };
    const at = await hooked(
      [[hook("PostToolUse", { async: true }), { exitCode: 2, stderr: "too late" }, later]],
      [shell("ls"), says("Done.")],
    );
    await at.run();
    expect(outputs(at)[0]).toContain("ran ls");
    expect(at.notes()).toHaveLength(1);
    expect(at.thread.types().at(-1)).toBe("turn.ended");
  });
});

const fresh = { signal: new AbortController().signal, reservations: new Map() };
