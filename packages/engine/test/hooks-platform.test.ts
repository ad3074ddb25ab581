import { describe, expect, test } from "vitest";
import type { ModelReply } from "../src/index.ts";
import { hook, hooked, outputs, type Said, shell } from "./hook-bench.ts";
import { calls, replies, says } from "./memory.ts";

describe("a permission hook of the platform dialect", () => {
  test.each<[string, string, Said, string | null]>([
    ["beforeShellExecution", "denies", { stdout: { permission: "deny", agent_message: "no" } }, "no"],
    [
      "beforeShellExecution",
      "denies after other words",
      { stdout: 'looking {x}\n{"permission":"deny","user_message":"no"}' },
      "no",
    ],
    [
      "beforeShellExecution",
      "asks, and nobody answers",
      { stdout: { permission: "ask" } },
      "the hook asks for an approval and nobody is here to give one",
    ],
    ["beforeShellExecution", "blocks with exit code 2", { exitCode: 2, stderr: "no" }, "Hook blocked with message: no"],
    ["beforeShellExecution", "prints no JSON", { stdout: "fine" }, "its output is not JSON"],
    [
      "beforeShellExecution",
      "says what nobody knows",
      { stdout: { permission: "perhaps" } },
      "permission of its output is not what it must be",
    ],
    ["beforeShellExecution", "allows", { stdout: { permission: "allow" } }, null],
    ["beforeShellExecution", "says nothing", {}, null],
    ["beforeShellExecution", "fails", { exitCode: 1 }, null],
    ["preToolUse", "denies", { stdout: { permission: "deny", user_message: "no" } }, "no"],
    [
      "preToolUse",
      "denies in other words",
      { stdout: { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "no" } } },
      "no",
    ],
    ["preToolUse", "asks", { stdout: { permission: "ask" } }, null],
  ])("%s %s", async (event, _, said, reason) => {
    const at = await hooked([[hook(event), said]], [shell("ls"), says("Done.")]);
    await at.run();
    if (reason === null) expect(outputs(at)[0]).toContain("ran ls");
    else expect(outputs(at)).toEqual([`Command blocked by ${event} hook: ${reason}. Command: ls`]);
  });

  test("joins the reasons of all that refuse", async () => {
    const deny = (user_message: string) => ({ stdout: { permission: "deny", user_message } });
    const at = await hooked(
      [
        [hook("preToolUse"), deny("one")],
        [hook("preToolUse"), deny("two")],
      ],
      [shell("ls"), says("Done.")],
    );
    await at.run();
    expect(outputs(at)[0]).toContain("one\n\n---\n\ntwo");
  });

  test("is shown the file before it is read", async () => {
    const script = [replies([calls("read_file", { path: "a/../b.txt" })]), says("Done.")];
    const at = await hooked(
      [[hook("beforeReadFile"), { stdout: { permission: "deny", user_message: "secret" } }]],
      script,
    );
    await at.run();
    expect(at.told[0]?.payload).toMatchObject({ file_path: "/project/b.txt", content: "secret", attachments: [] });
    expect(outputs(at)[0]).toContain("blocked by beforeReadFile hook: secret");
  });
});

describe("events of the platform dialect", () => {
  const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** Add File: b.txt\n+two\n*** End Patch\n";
  const editing: ModelReply = replies([calls("apply_patch", { input: patch })]);
  test.each<[string, ModelReply, Record<string, unknown>[]]>([
    ["beforeShellExecution", shell("ls"), [{ command: "ls", cwd: "/project", sandbox: true }]],
    ["afterShellExecution", shell("ls"), [{ command: "ls", output: "ran ls\n", sandbox: true }]],
    [
      "preToolUse",
      shell("ls"),
      [{ tool_name: "Shell", tool_input: { command: "ls", cwd: "/project" }, agent_message: "" }],
    ],
    [
      "preToolUse",
      editing,
      [
        { tool_name: "Write", tool_input: { file_path: "/project/a.txt", content: "one\n" } },
        { tool_name: "Write", tool_input: { file_path: "/project/b.txt", content: "two\n" } },
      ],
    ],
    [
      "afterFileEdit",
      editing,
      [
        { file_path: "/project/a.txt", edits: [{ old_string: "", new_string: "one\n" }] },
        { file_path: "/project/b.txt", edits: [{ old_string: "", new_string: "two\n" }] },
      ],
    ],
    ["postToolUse", shell("ls"), [{ tool_name: "Shell", tool_output: '{"output":"ran ls\\n","exitCode":0}' }]],
    ["beforeSubmitPrompt", shell("ls"), [{ prompt: "go on", attachments: [] }]],
    ["afterAgentResponse", says("Done."), [{ text: "Done.", input_tokens: 0, output_tokens: 1 }]],
    ["stop", says("Done."), [{ status: "completed", loop_count: 0 }]],
    ["sessionStart", says("Done."), [{ session_id: "thread", is_background_agent: false }]],
  ])("%s carries what it must", async (event, reply, payloads) => {
    const at = await hooked(
      [[hook(event), { stdout: "" }]],
      [reply, says("Done.")].slice(reply.kind === "replied" && reply.blocks[0]?.type === "message" ? 1 : 0),
    );
    await at.run();
    expect(at.told.map(({ payload }) => payload)).toMatchObject(payloads);
    expect(at.told[0]?.payload).toMatchObject({
      conversation_id: "thread",
      generation_id: expect.stringContaining("turn"),
      model: "scripted",
      hook_event_name: event,
      platform_version: "1.2.3",
      workspace_roots: ["/project"],
      user_email: null,
      transcript_path: "/sessions/thread.jsonl",
    });
  });

  test("a refused call is a failure of its own kind", async () => {
    const at = await hooked(
      [
        [hook("beforeShellExecution"), { exitCode: 2, stdout: "no" }],
        [hook("postToolUseFailure"), {}],
      ],
      [shell("ls"), says("Done.")],
    );
    await at.run();
    expect(at.told[1]?.payload).toMatchObject({
      tool_name: "Shell",
      failure_type: "permission_denied",
      error_message: "no",
    });
  });
});
