import { describe, expect, test } from "vitest";
import { drive } from "../src/index.ts";
import { type Answer, hook, openHookHarness, outputs, shell, specific } from "./hook-harness.ts";
import { calls, replies, textReply } from "./thread-harness.ts";

const blockedSentence = (reason: string) => `Command blocked by PreToolUse hook: ${reason}. Command: ls`;

describe("a PreToolUse hook", () => {
  test.each<[string, Answer, string | null]>([
    ["denies in JSON", specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "no" }), "no"],
    ["blocks in the older form", { stdout: { decision: "block", reason: "no" } }, "no"],
    ["blocks with exit code 2", { exitCode: 2, stderr: "no\n" }, "no"],
    ["denies by an array", { stdout: "[1]" }, "its output is not a JSON object"],
    ["denies by JSON that is none", { stdout: "{oops" }, "its output is not a JSON object"],
    [
      "denies with an unknown key",
      { stdout: { permisionDecision: "deny" } },
      "its output has an unknown key: permisionDecision",
    ],
    [
      "denies by an unknown value",
      specific("PreToolUse", { permissionDecision: "maybe" }),
      "permissionDecision must be one of allow, deny, ask",
    ],
    ["denies when it was modified", { instead: { kind: "modified" } }, "hook modified"],
    ["lets pass with nothing", {}, null],
    ["lets pass with words", { stdout: "looks fine" }, null],
    ["lets pass when it asks", specific("PreToolUse", { permissionDecision: "ask" }), null],
    ["lets pass when it approves", { stdout: { decision: "approve" } }, null],
    ["lets pass with continue false", { stdout: { continue: false } }, null],
    ["lets pass with exit code 2 and no reason", { exitCode: 2 }, null],
    ["lets pass when it fails", { exitCode: 1, stderr: "oops" }, null],
    ["lets pass when it takes too long", { timedOut: true, exitCode: 137 }, null],
    ["lets pass when it cannot start", { instead: { kind: "unanswered", reason: "no shell", durationMs: 0 } }, null],
  ])("%s", async (_, answer, reason) => {
    const at = await openHookHarness([[hook("PreToolUse"), answer]], [shell("ls"), textReply("Done.")]);
    await at.run();
    if (reason === null) expect(outputs(at)[0]).toContain("ran ls");
    else expect(outputs(at)).toEqual([blockedSentence(reason)]);
  });

  test.each<[string, Answer]>([
    ["fails", { exitCode: 1 }],
    ["takes too long", { timedOut: true }],
    ["cannot start", { instead: { kind: "unanswered", reason: "no shell", durationMs: 0 } }],
  ])("that is to fail closed denies when it %s", async (_, answer) => {
    const at = await openHookHarness(
      [[hook("PreToolUse", { failClosed: true }), answer]],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(outputs(at)[0]).toMatch(/^Command blocked by PreToolUse hook: /);
  });

  test("rewrites what is run, and the guard judges the result", async () => {
    const rewriting = specific("PreToolUse", { permissionDecision: "allow", updatedInput: { command: "pwd" } });
    const at = await openHookHarness([[hook("PreToolUse"), rewriting]], [shell("ls"), textReply("Done.")]);
    const judged: unknown[] = [];
    at.thread.dependencies.guard = {
      async admit(call) {
        judged.push(call.args);
        return { kind: "allowed" };
      },
    };
    await at.run();
    expect(judged).toEqual([{ cmd: "pwd" }]);
    expect(outputs(at)[0]).toContain("ran pwd");
    expect(at.thread.store.records.map(({ record }) => record)).toContainEqual(
      expect.objectContaining({ type: "tool.begun", args: { cmd: "pwd" } }),
    );
  });

  test("that rewrites to invalid arguments is refused", async () => {
    const rewriting = specific("PreToolUse", { permissionDecision: "allow", updatedInput: { path: 5 } });
    const script = [replies([calls("read_file", { path: "a" })]), textReply("Done.")];
    const at = await openHookHarness([[hook("PreToolUse"), rewriting]], script);
    await at.run();
    expect(outputs(at)[0]).toContain("A hook rewrote the arguments of read_file");
  });

  test("adds context after the results of all calls", async () => {
    const script = [
      replies([calls("exec_command", { cmd: "a" }, "a"), calls("exec_command", { cmd: "b" }, "b")]),
      textReply("Done."),
    ];
    const at = await openHookHarness(
      [[hook("PreToolUse"), specific("PreToolUse", { additionalContext: "mind the gap" })]],
      script,
    );
    await at.run();
    const roles = at.thread.requests[1]?.messages.slice(-4).map(({ role }) => role);
    expect(roles).toEqual(["assistant", "tool", "tool", "user"]);
    expect(JSON.stringify(at.thread.requests[1]?.messages.at(-1))).toContain("mind the gap");
  });

  test.each([
    [null, true],
    ["", true],
    ["*", true],
    ["Bash", true],
    ["Bas", false],
    ["Read|Bash", true],
    ["^Ba.h$", true],
    ["sh.?$", true],
    ["apply_patch", false],
  ])("with matcher %s is meant for a command: %s", async (matcher, isMeant) => {
    const at = await openHookHarness([[hook("PreToolUse", { matcher }), {}]], [shell("ls"), textReply("Done.")]);
    await at.run();
    expect(at.received).toHaveLength(isMeant ? 1 : 0);
  });

  test("matches patches by other names too, and does not run for polling", async () => {
    const patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n";
    const script = [
      replies([calls("apply_patch", { input: patch }), calls("write_stdin", { session_id: 1 }, "w")]),
      textReply("Done."),
    ];
    const at = await openHookHarness(
      [
        [hook("PreToolUse", { matcher: "Write" }), {}],
        [hook("PreToolUse"), {}],
      ],
      script,
    );
    await at.run();
    expect(at.received.map(({ payload }) => [payload.tool_name, payload.tool_input])).toEqual([
      ["apply_patch", { command: patch }],
      ["apply_patch", { command: patch }],
    ]);
  });

  test("reports the first refusal in definition order, whichever answers first", async () => {
    const at = await openHookHarness(
      [
        [hook("PreToolUse"), {}],
        [hook("PreToolUse"), { exitCode: 2, stderr: "first" }],
        [hook("PreToolUse"), { exitCode: 2, stderr: "second" }],
      ],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(outputs(at)).toEqual([blockedSentence("first")]);
    expect(at.notes().map(({ status }) => status)).toEqual(["completed", "blocked", "blocked"]);
  });

  test("does not run again for a call that had begun", async () => {
    const at = await openHookHarness([[hook("PreToolUse"), {}]], [textReply("Done.")]);
    await at.thread.begin("go on");
    const begun = {
      callId: "3.0",
      name: "exec_command",
      args: { cmd: "ls" },
      incarnation: "none",
      onResume: "once",
    } as const;
    await at.thread.log.write(
      { type: "model.replied", blocks: [calls("exec_command", { cmd: "ls" })], usage: zero, model: "scripted" },
      { type: "tool.begun", ...begun },
    );
    await drive(at.thread.log, at.thread.dependencies, new AbortController().signal);
    expect(outputs(at)[0]).toContain("ran ls");
    expect(at.received).toEqual([]);
  });
});

describe("a PermissionRequest hook", () => {
  const escalated = replies([calls("exec_command", { cmd: "ls", sandbox_permissions: "require_escalated" })]);
  test.each<[string, Answer, RegExp]>([
    ["allows", specific("PermissionRequest", { decision: { behavior: "allow" } }), /ran ls/],
    ["denies", specific("PermissionRequest", { decision: { behavior: "deny", message: "no" } }), /^no$/],
    ["denies with exit code 2", { exitCode: 2, stderr: "no" }, /^no$/],
    ["has no opinion", {}, /no user is present/],
    ["cannot be understood", { stdout: "{" }, /not a JSON object/],
  ])("%s", async (_, answer, expected) => {
    const at = await openHookHarness([[hook("PermissionRequest"), answer]], [escalated, textReply("Done.")]);
    await at.thread.begin("go on", { approval: "on-request" });
    await drive(at.thread.log, at.thread.dependencies, new AbortController().signal);
    expect(outputs(at)[0]).toMatch(expected);
    expect(at.received[0]?.payload).toMatchObject({ permission_mode: "default", tool_name: "Bash" });
    expect(at.received[0]?.payload).not.toHaveProperty("tool_use_id");
  });

  test("does not run where approvals are off", async () => {
    const at = await openHookHarness(
      [[hook("PermissionRequest"), specific("PermissionRequest", { decision: { behavior: "allow" } })]],
      [escalated, textReply("Done.")],
    );
    await at.run();
    expect(at.received).toEqual([]);
    expect(outputs(at)[0]).toContain("approval policy is Never");
  });
});

describe("a PostToolUse hook", () => {
  test.each<[string, Answer]>([
    ["in JSON", { stdout: { decision: "block", reason: "too long" } }],
    ["with exit code 2", { exitCode: 2, stderr: "too long" }],
  ])("that blocks %s replaces the output", async (_, answer) => {
    const at = await openHookHarness([[hook("PostToolUse"), answer]], [shell("ls"), textReply("Done.")]);
    await at.run();
    expect(outputs(at)).toEqual(["too long"]);
    expect(at.received[0]?.payload).toMatchObject({
      tool_name: "Bash",
      tool_response: expect.stringContaining("ran ls"),
    });
  });

  test("that answers continue: false ends the turn", async () => {
    const at = await openHookHarness(
      [[hook("PostToolUse"), { stdout: { continue: false, stopReason: "enough" } }]],
      [shell("ls")],
    );
    const { end } = await at.run();
    expect(end).toMatchObject({ status: "failed", code: "hook", hook: "project" });
    expect(JSON.stringify(end)).toContain("enough");
    expect(at.thread.requests).toHaveLength(1);
  });
});

const zero = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
