import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAgentcliReaction } from "../src/hooks/agentcli/reaction.ts";
import { readPlatformReaction } from "../src/hooks/platform/reaction.ts";
import {
  agentTools,
  builtInRoles,
  builtInTools,
  drive,
  type ModelReply,
  type ModelRequest,
  openFamily,
  readThread,
} from "../src/index.ts";
import { hook, hooked, outputs, type Said, shell } from "./hook-bench.ts";
import { calls, memoryStore, replies, says } from "./memory.ts";

const specific = (hookEventName: string, fields: object): Said => ({
  stdout: { hookSpecificOutput: { hookEventName, ...fields } },
});
const blockedSentence = (reason: string) => `Command blocked by PreToolUse hook: ${reason}. Command: ls`;

describe("a PreToolUse hook", () => {
  test.each<[string, Said, string | null]>([
    ["denies in JSON", specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "no" }), "no"],
    ["blocks in the older form", { stdout: { decision: "block", reason: "no" } }, "no"],
    ["blocks with exit code 2", { exitCode: 2, stderr: "no\n" }, "no"],
    ["denies by an array", { stdout: "[1]" }, "its output is not a JSON object"],
    ["denies by JSON that is none", { stdout: "{oops" }, "its output is not a JSON object"],
    [
      "denies by a key nobody knows",
      { stdout: { permisionDecision: "deny" } },
      "its output has a key nobody knows: permisionDecision",
    ],
    [
      "denies by a value nobody knows",
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
    ["lets pass when it cannot start", { instead: { kind: "not-started", reason: "no shell" } }, null],
  ])("%s", async (_, said, reason) => {
    const at = await hooked([[hook("PreToolUse"), said]], [shell("ls"), says("Done.")]);
    await at.run();
    if (reason === null) expect(outputs(at)[0]).toContain("ran ls");
    else expect(outputs(at)).toEqual([blockedSentence(reason)]);
  });

  test.each<[string, Said]>([
    ["fails", { exitCode: 1 }],
    ["takes too long", { timedOut: true }],
    ["cannot start", { instead: { kind: "not-started", reason: "no shell" } }],
  ])("that is to fail closed denies when it %s", async (_, said) => {
    const at = await hooked([[hook("PreToolUse", { failClosed: true }), said]], [shell("ls"), says("Done.")]);
    await at.run();
    expect(outputs(at)[0]).toMatch(/^Command blocked by PreToolUse hook: /);
  });

  test("rewrites what is run, and the guard judges what it wrote", async () => {
    const rewriting = specific("PreToolUse", { permissionDecision: "allow", updatedInput: { command: "pwd" } });
    const at = await hooked([[hook("PreToolUse"), rewriting]], [shell("ls"), says("Done.")]);
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

  test("that rewrites to what the tool does not take is refused", async () => {
    const rewriting = specific("PreToolUse", { permissionDecision: "allow", updatedInput: { path: 5 } });
    const script = [replies([calls("read_file", { path: "a" })]), says("Done.")];
    const at = await hooked([[hook("PreToolUse"), rewriting]], script);
    await at.run();
    expect(outputs(at)[0]).toContain("A hook rewrote the arguments of read_file");
  });

  test("adds context behind the results of all calls", async () => {
    const script = [
      replies([calls("exec_command", { cmd: "a" }, "a"), calls("exec_command", { cmd: "b" }, "b")]),
      says("Done."),
    ];
    const at = await hooked(
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
    const at = await hooked([[hook("PreToolUse", { matcher }), {}]], [shell("ls"), says("Done.")]);
    await at.run();
    expect(at.told).toHaveLength(isMeant ? 1 : 0);
  });

  test("knows patches by other names too, and is not asked about waiting", async () => {
    const patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n";
    const script = [
      replies([calls("apply_patch", { input: patch }), calls("write_stdin", { session_id: 1 }, "w")]),
      says("Done."),
    ];
    const at = await hooked(
      [
        [hook("PreToolUse", { matcher: "Write" }), {}],
        [hook("PreToolUse"), {}],
      ],
      script,
    );
    await at.run();
    expect(at.told.map(({ payload }) => [payload.tool_name, payload.tool_input])).toEqual([
      ["apply_patch", { command: patch }],
      ["apply_patch", { command: patch }],
    ]);
  });

  test("of several that answer the first refusal speaks, whoever is quicker", async () => {
    const at = await hooked(
      [
        [hook("PreToolUse"), {}],
        [hook("PreToolUse"), { exitCode: 2, stderr: "first" }],
        [hook("PreToolUse"), { exitCode: 2, stderr: "second" }],
      ],
      [shell("ls"), says("Done.")],
    );
    await at.run();
    expect(outputs(at)).toEqual([blockedSentence("first")]);
    expect(at.notes().map(({ status }) => status)).toEqual(["completed", "blocked", "blocked"]);
  });

  test("is not asked again about a call that had begun", async () => {
    const at = await hooked([[hook("PreToolUse"), {}]], [says("Done.")]);
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
    expect(at.told).toEqual([]);
  });
});

describe("a PermissionRequest hook", () => {
  const escalated = replies([calls("exec_command", { cmd: "ls", sandbox_permissions: "require_escalated" })]);
  test.each<[string, Said, RegExp]>([
    ["allows", specific("PermissionRequest", { decision: { behavior: "allow" } }), /ran ls/],
    ["denies", specific("PermissionRequest", { decision: { behavior: "deny", message: "no" } }), /^no$/],
    ["denies with exit code 2", { exitCode: 2, stderr: "no" }, /^no$/],
    ["has no opinion", {}, /nobody is here/],
    ["cannot be understood", { stdout: "{" }, /not a JSON object/],
  ])("%s", async (_, said, told) => {
    const at = await hooked([[hook("PermissionRequest"), said]], [escalated, says("Done.")]);
    await at.thread.begin("go on", { approval: "on-request" });
    await drive(at.thread.log, at.thread.dependencies, new AbortController().signal);
    expect(outputs(at)[0]).toMatch(told);
    expect(at.told[0]?.payload).toMatchObject({ permission_mode: "default", tool_name: "Bash" });
    expect(at.told[0]?.payload).not.toHaveProperty("tool_use_id");
  });

  test("is not asked where nobody may be", async () => {
    const at = await hooked(
      [[hook("PermissionRequest"), specific("PermissionRequest", { decision: { behavior: "allow" } })]],
      [escalated, says("Done.")],
    );
    await at.run();
    expect(at.told).toEqual([]);
    expect(outputs(at)[0]).toContain("approval policy is Never");
  });
});

describe("a PostToolUse hook", () => {
  test.each<[string, Said]>([
    ["in JSON", { stdout: { decision: "block", reason: "too long" } }],
    ["with exit code 2", { exitCode: 2, stderr: "too long" }],
  ])("that blocks %s speaks in place of the output", async (_, said) => {
    const at = await hooked([[hook("PostToolUse"), said]], [shell("ls"), says("Done.")]);
    await at.run();
    expect(outputs(at)).toEqual(["too long"]);
    expect(at.told[0]?.payload).toMatchObject({ tool_name: "Bash", tool_response: expect.stringContaining("ran ls") });
  });

  test("that does not want to continue ends the turn", async () => {
    const at = await hooked(
      [[hook("PostToolUse"), { stdout: { continue: false, stopReason: "enough" } }]],
      [shell("ls")],
    );
    const { end } = await at.run();
    expect(end).toMatchObject({ status: "failed", code: "hook", hook: "project" });
    expect(JSON.stringify(end)).toContain("enough");
    expect(at.thread.requests).toHaveLength(1);
  });
});

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
    await at.run();
    at.told.length = 0;
    await at.thread.dependencies.hooks?.endSession({ log: at.thread.log });
    expect(at.told.map(({ payload }) => payload)).toMatchObject([...payloads, { hook_event_name: "SessionEnd" }]);
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

describe("hooks of sub-agents", () => {
  async function withAgents(hooks: Parameters<typeof hooked>[0], model: (isChild: boolean) => ModelReply) {
    const at = await hooked(hooks);
    const stores = new Map<string, ReturnType<typeof memoryStore>>();
    const storeOf = (id: string) => stores.get(id) ?? stores.set(id, memoryStore()).get(id) ?? memoryStore();
    at.thread.dependencies.tools = [...builtInTools, ...agentTools(builtInRoles)];
    at.thread.dependencies.family = openFamily({
      store: {
        append: (id, after, records) => storeOf(id).append(id, after, records),
        read: (id, after) => storeOf(id).read(id, after),
      },
      roles: builtInRoles,
      mostOpen: 3,
      maxDepth: 1,
      newId: () => "child",
      drive,
      program: { name: "test", version: "0" },
      dependenciesFor: async () => null,
    });
    const isChild = (request: ModelRequest) =>
      JSON.stringify(request.messages.at(-1)).includes("find out") ||
      JSON.stringify(request.instructions).includes("Your role");
    at.thread.dependencies.model = { reply: async (request) => model(isChild(request)) };
    return { at, stores };
  }
  const spawning = () => {
    const script = [
      replies([calls("spawn_agent", { message: "find out", agent_type: "explorer" })]),
      replies([calls("wait_agent", { targets: ["child"] })]),
      says("Done."),
    ];
    return () => script.shift() ?? says("Done.");
  };

  test("welcome it with context, are asked when it ends, and know it by its kind", async () => {
    const next = spawning();
    const { at, stores } = await withAgents(
      [
        [
          hook("SubagentStart", { matcher: "explorer" }),
          specific("SubagentStart", { additionalContext: "look in src" }),
        ],
        [hook("SubagentStop"), { exitCode: 2, stderr: "look again" }, {}],
        [hook("subagentStop"), {}],
        [hook("Stop"), {}],
      ],
      (isChild) => (isChild ? says("Found.") : next()),
    );
    expect((await at.run()).end).toMatchObject({ status: "completed" });
    await at.thread.dependencies.family?.end();
    expect(at.told.map(({ event }) => event)).toEqual([
      "SubagentStart",
      "SubagentStop",
      "subagentStop",
      "SubagentStop",
      "subagentStop",
      "Stop",
    ]);
    expect(at.told[0]?.payload).toMatchObject({ session_id: "thread", agent_id: "child", agent_type: "explorer" });
    expect(at.told[1]?.payload).toMatchObject({
      session_id: "thread",
      agent_id: "child",
      stop_hook_active: false,
      agent_transcript_path: "/sessions/child.jsonl",
      last_assistant_message: "Found.",
    });
    expect(at.told[4]?.payload).toMatchObject({
      subagent_id: "child",
      subagent_type: "explorer",
      task: "find out",
      summary: "Found.",
      loop_count: 1,
      parent_conversation_id: "thread",
    });
    expect(JSON.stringify(stores.get("child")?.records[0])).toContain("look in src");
  });

  test("may refuse it", async () => {
    const next = spawning();
    const deny = { stdout: { permission: "deny", user_message: "alone" } };
    const { at, stores } = await withAgents([[hook("subagentStart"), deny]], () => next());
    await at.run();
    expect(stores.get("child")?.records ?? []).toEqual([]);
    expect(JSON.stringify(at.thread.store.records)).toContain("Sub-agent blocked by subagentStart hook: alone");
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

test("whatever a hook prints, it is understood as something", () => {
  const events = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "UserPromptSubmit",
    "preToolUse",
    "stop",
    "sessionStart",
  ];
  const json = fc.oneof(
    fc.json(),
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify({ hookSpecificOutput: value, decision: value, permission: value })),
  );
  fc.assert(
    fc.property(fc.constantFrom(...events), json, fc.integer({ min: 0, max: 3 }), (event, stdout, exitCode) => {
      const definition = hook(event);
      const read = definition.dialect === "agentcli" ? readAgentcliReaction : readPlatformReaction;
      const run = { kind: "ran", exitCode, stdout, stderr: stdout, timedOut: false, durationMs: 1 } as const;
      expect(["completed", "blocked", "failed"]).toContain(read(run, definition).status);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

const zero = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
const fresh = { signal: new AbortController().signal, reservations: new Map() };
