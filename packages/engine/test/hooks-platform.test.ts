import { describe, expect, test } from "vitest";
import type { ModelReply } from "../src/index.ts";
import { type Answer, hook, openHookHarness, outputs, shell } from "./hook-harness.ts";
import { calls, replies, textReply } from "./thread-harness.ts";

describe("a permission hook of the platform dialect", () => {
  test.each<[string, string, Answer, string | null]>([
    ["beforeShellExecution", "denies", { stdout: { permission: "deny", agent_message: "no" } }, "no"],
    [
      "beforeShellExecution",
      "denies after other output",
      { stdout: 'looking {x}\n{"permission":"deny","user_message":"no"}' },
      "no",
    ],
    [
      "beforeShellExecution",
      "asks, in an unattended run",
      { stdout: { permission: "ask" } },
      "the hook asks for an approval and no user is present to give one",
    ],
    ["beforeShellExecution", "blocks with exit code 2", { exitCode: 2, stderr: "no" }, "Hook blocked with message: no"],
    ["beforeShellExecution", "prints no JSON", { stdout: "fine" }, "its output is not JSON"],
    [
      "beforeShellExecution",
      "gives an unknown permission",
      { stdout: { permission: "perhaps" } },
      "permission of its output is invalid",
    ],
    ["beforeShellExecution", "allows", { stdout: { permission: "allow" } }, null],
    ["beforeShellExecution", "prints nothing", {}, null],
    ["beforeShellExecution", "fails", { exitCode: 1 }, null],
    ["preToolUse", "denies", { stdout: { permission: "deny", user_message: "no" } }, "no"],
    [
      "preToolUse",
      "denies in the form of the other dialect",
      { stdout: { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "no" } } },
      "no",
    ],
    ["preToolUse", "asks", { stdout: { permission: "ask" } }, null],
  ])("%s %s", async (event, _, answer, reason) => {
    const at = await openHookHarness([[hook(event), answer]], [shell("ls"), textReply("Done.")]);
    await at.run();
    if (reason === null) expect(outputs(at)[0]).toContain("ran ls");
    else expect(outputs(at)).toEqual([`Command blocked by ${event} hook: ${reason}. Command: ls`]);
  });

  test("joins the reasons of all refusals", async () => {
    const deny = (user_message: string) => ({ stdout: { permission: "deny", user_message } });
    const at = await openHookHarness(
      [
        [hook("preToolUse"), deny("one")],
        [hook("preToolUse"), deny("two")],
      ],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(outputs(at)[0]).toContain("one\n\n---\n\ntwo");
  });

  test("receives the content of a file before it is read", async () => {
    const script = [replies([calls("read_file", { path: "a/../b.txt" })]), textReply("Done.")];
    const at = await openHookHarness(
      [[hook("beforeReadFile"), { stdout: { permission: "deny", user_message: "secret" } }]],
      script,
    );
    await at.run();
    expect(at.received[0]?.payload).toMatchObject({ file_path: "/project/b.txt", content: "secret", attachments: [] });
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
    ["afterAgentResponse", textReply("Done."), [{ text: "Done.", input_tokens: 0, output_tokens: 1 }]],
    ["stop", textReply("Done."), [{ status: "completed", loop_count: 0 }]],
    ["sessionStart", textReply("Done."), [{ session_id: "thread", is_background_agent: false }]],
  ])("%s carries what it must", async (event, reply, payloads) => {
    const at = await openHookHarness(
      [[hook(event), { stdout: "" }]],
      [reply, textReply("Done.")].slice(reply.kind === "replied" && reply.blocks[0]?.type === "message" ? 1 : 0),
    );
    await at.run();
    expect(at.received.map(({ payload }) => payload)).toMatchObject(payloads);
    expect(at.received[0]?.payload).toMatchObject({
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

  test("a refused call is reported as a failure", async () => {
    const at = await openHookHarness(
      [
        [hook("beforeShellExecution"), { exitCode: 2, stdout: "no" }],
        [hook("postToolUseFailure"), {}],
      ],
      [shell("ls"), textReply("Done.")],
    );
    await at.run();
    expect(at.received[1]?.payload).toMatchObject({
      tool_name: "Shell",
      failure_type: "permission_denied",
      error_message: "no",
    });
  });
});
