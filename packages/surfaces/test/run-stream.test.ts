import type { ModelProgress } from "@agentcli/engine";
import type { Block, NoteData, Outcome, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { StreamFrame, ToolCall } from "@agentcli/protocol/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type FrameGroup, type RunStream, runStream } from "../src/run-stream/index.ts";

const settings: TurnSettings = {
  model: "m",
  provider: "p",
  cwd: "/w",
  shell: "/bin/bash",
  sandbox: "workspace-write",
  approval: "never",
};
const usage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteInputTokens: 10,
  outputTokens: 7,
  reasoningOutputTokens: 2,
};

function openRun() {
  const stream = runStream((text) => text);
  let seq = 0;
  return {
    progress: (progress: ModelProgress) => stream.progress(progress),
    record: (record: ThreadRecord) => write(stream, ++seq, record),
    reply: (...blocks: Block[]) => write(stream, ++seq, { type: "model.replied", blocks, usage, model: "m" }),
    /** A call with its three records; the frames of the last two. */
    call(name: string, args: unknown, outcome: Outcome, mcp?: { server: string; tool: string }) {
      const input = JSON.stringify(args);
      write(stream, ++seq, {
        type: "model.replied",
        blocks: [{ type: "call", wireId: "call_a", name, form: "function", input }],
        usage,
        model: "m",
      });
      const callId = `${seq}.0`;
      const begun = { name, args: JSON.parse(input), incarnation: "i", onResume: "once", ...(mcp && { mcp }) } as const;
      return [
        ...write(stream, ++seq, { type: "tool.begun", callId, ...begun }),
        ...write(stream, ++seq, { type: "tool.settled", callId, outcome }),
      ];
    },
  };
}

const write = (stream: RunStream, seq: number, record: ThreadRecord): FrameGroup[] =>
  stream.record({ seq, at: new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString(), record });

const types = (groups: FrameGroup[]) =>
  groups.map((group) => group.map((frame) => (frame.event === "interaction_update" ? frame.data.type : frame.event)));

const shownText = (groups: FrameGroup[]): string =>
  groups.flatMap((group) => group.flatMap((frame) => (frame.event === "assistant" ? frame.data.text : []))).join("");

const done = (text: string, detail: Outcome["detail"] = { kind: "none" }): Outcome => ({
  status: "completed",
  parts: [{ type: "text", text }],
  detail,
});

test("a reply is enclosed by its step, and every simple frame comes with its update", () => {
  const run = openRun();
  const frames = [
    ...run.progress({ type: "reasoning", delta: "hm" }),
    ...run.progress({ type: "text", delta: "Hel" }),
    ...run.progress({ type: "text", delta: "lo" }),
    ...run.reply({ type: "reasoning", summary: ["hm"] }, { type: "message", text: "Hello" }),
  ];
  expect(types(frames)).toEqual([
    ["step-started"],
    ["thinking", "thinking-delta"],
    ["assistant", "text-delta"],
    ["assistant", "text-delta"],
    ["step-completed"],
  ]);
  expect(frames.at(-1)).toEqual([
    { event: "interaction_update", data: { type: "step-completed", stepId: 1, stepDurationMs: expect.any(Number) } },
  ]);
});

test("a failed attempt has no step-completed, and the next one starts the step again", () => {
  const run = openRun();
  const frames = [
    ...run.progress({ type: "text", delta: "wro" }),
    ...run.progress({ type: "retrying", attempt: 1, of: 4, delayMs: 1, reason: "cut" }),
    ...run.progress({ type: "text", delta: "right" }),
    ...run.reply({ type: "message", text: "right" }),
  ];
  expect(types(frames).flat()).toEqual([
    "step-started",
    "assistant",
    "text-delta",
    "step-started",
    "assistant",
    "text-delta",
    "step-completed",
  ]);
});

test("the part of a reply that was not streamed comes with its record", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (text, at) => {
      const run = openRun();
      const streamed = text.slice(0, at % (text.length + 1));
      const frames = [...run.progress({ type: "text", delta: streamed }), ...run.reply({ type: "message", text })];
      expect(shownText(frames)).toBe(text);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("the end of the turn reports the usage, with the cache counted separately", () => {
  const run = openRun();
  run.record({ type: "turn.begun", turnId: "t", input: [{ type: "text", text: "go" }], settings });
  run.reply({ type: "message", text: "a" });
  const frames = run.record({ type: "turn.ended", turnId: "t", end: { status: "completed", message: "a" } });
  expect(frames).toEqual([
    [
      {
        event: "interaction_update",
        data: {
          type: "turn-ended",
          usage: { inputTokens: 50, outputTokens: 7, cacheReadTokens: 40, cacheWriteTokens: 10, reasoningTokens: 2 },
        },
      },
    ],
  ]);
});

const command = { kind: "command", output: "ok\n", exitCode: 0, cursor: 1, durationMs: 3 } as const;
const patch =
  "*** Begin Patch\n*** Add File: a.txt\n+one\n*** Delete File: b.txt\n*** Update File: c.txt\n@@\n-x\n+y\n*** End Patch";

test.each([
  ["exec_command", { cmd: "ls", workdir: "sub" }, done("ok", command), ["run_terminal_cmd"], ["shell"]],
  ["apply_patch", { input: patch }, done("done"), ["write", "delete", "edit"], ["write", "delete", "edit"]],
  ["read_file", { path: "a" }, done("1: x\n2: y"), ["read"], ["read"]],
  ["list_dir", { path: "." }, done("src/\na.ts\nlink@"), ["ls"], ["ls"]],
  ["grep_files", { pattern: "x" }, done("a.ts:3: const x"), ["grep"], ["grep"]],
  ["update_plan", { plan: [{ step: "a", status: "in_progress" }] }, done(""), ["updateTodos"], ["updateTodos"]],
  ["spawn_agent", { message: "look", agent_type: "explorer" }, done("{}"), ["task"], ["task"]],
  ["wait_agent", { targets: ["a"] }, done("{}"), ["task"], []],
  ["view_image", { path: "a.png" }, done(""), ["view_image"], []],
])("%s has its public names", (name, args, outcome, names, kinds) => {
  const frames = openRun().call(name, args, outcome).flat();
  const calls = frames.flatMap((frame) => (frame.event === "tool_call" ? frame.data : []));
  expect(calls.map((call) => `${call.name} ${call.status}`)).toEqual([
    ...names.map((shown) => `${shown} running`),
    ...names.map((shown) => `${shown} completed`),
  ]);
  const updates = frames.flatMap((frame) =>
    frame.event === "interaction_update" && "toolCall" in frame.data ? frame.data.toolCall : [],
  );
  expect(updates.map(({ type }) => type)).toEqual([...kinds, ...kinds]);
  for (const frame of frames) expect(StreamFrame.parse(frame)).toEqual(frame);
  for (const call of updates) expect(ToolCall.parse(call)).toEqual(call);
});

test("an edit shows what it changed, and how many lines", () => {
  const frames = openRun().call("apply_patch", { input: patch }, done("done")).flat();
  const edits = frames.flatMap((frame) =>
    frame.event === "tool_call" && frame.data.name === "edit" && frame.data.status === "completed"
      ? frame.data.result
      : [],
  );
  expect(edits).toEqual([{ success: { linesAdded: 1, linesRemoved: 1, diffString: "@@\n-x\n+y\n" } }]);
});

test("a warning about a repository is shown as a failed call, which is not part of the conversation", () => {
  const data = { message: "This run created the git repository in vendor." };
  const about = "repository" as const;
  const frames = openRun()
    .record({ type: "noted", kind: "warning", data: { ...data, about } })
    .flat();
  expect(openRun().record({ type: "noted", kind: "warning", data }).flat()).toEqual([]);
  expect(frames).toEqual([
    {
      event: "tool_call",
      data: { callId: "warning:1", name: "warning", status: "error", result: { error: data } },
    },
  ]);
  expect(frames.map((frame) => StreamFrame.parse(frame))).toEqual(frames);
});

test("a connection that the sandbox blocked is shown as a failed call that names the rule", () => {
  const message = "The sandbox blocked a connection: evil.example:80 is not in allowed_domains.";
  const data = { message, host: "evil.example", port: 80, by: "allowlist" };
  const frames = openRun().record({ type: "noted", kind: "policy", data }).flat();
  const args = { host: "evil.example", port: 80 };
  expect(frames).toMatchObject([
    { event: "tool_call", data: { name: "warning", status: "error", args, result: { error: { message } } } },
  ]);
  expect(frames.map((frame) => StreamFrame.parse(frame))).toEqual(frames);
});

test("a hook that ran is a call with its outcome; one that was skipped, and notes about the turn, are not shown", () => {
  const hook = { event: "preToolUse", source: "project", key: ".platform/hooks.json:pre_tool_use:0:0" } as const;
  const shownAs = (data: NoteData<"hook">) => openRun().record({ type: "noted", kind: "hook", data }).flat();
  const ran = shownAs({ ...hook, status: "completed", reason: "", durationMs: 12 });
  const args = { event: "preToolUse", hook: hook.key, outcome: "completed", durationMs: 12 };
  expect(ran).toEqual([
    {
      event: "tool_call",
      data: { callId: "hook:1", name: "hook", status: "completed", args, result: { success: {} } },
    },
  ]);
  const message = "Not on a Friday.";
  const blocked = shownAs({ ...hook, status: "blocked", reason: message, durationMs: 3, agentId: "a1" });
  expect(blocked).toMatchObject([
    { data: { status: "error", args: { outcome: "blocked", subagentId: "a1" }, result: { error: { message } } } },
  ]);
  for (const frame of [...ran, ...blocked]) expect(StreamFrame.parse(frame)).toEqual(frame);
  expect(shownAs({ ...hook, status: "skipped", reason: "not trusted", durationMs: 0 })).toEqual([]);
  expect(shownAs({ prompted: true })).toEqual([]);
});

test("a call to an MCP server names server and tool, and has its content", () => {
  const result = { content: [{ type: "text", text: "42" }], structuredContent: null };
  const detail = { kind: "mcp", server: "s", tool: "t", arguments: {}, result, error: null, durationMs: 1 } as const;
  const frames = openRun().call("mcp__s__t", { a: 1 }, done("42", detail), { server: "s", tool: "t" });
  expect(frames.at(-1)?.at(-1)).toMatchObject({
    data: {
      toolCall: {
        type: "mcp",
        args: { args: { a: 1 }, providerIdentifier: "s", toolName: "t" },
        result: { status: "success", value: { content: [{ text: { text: "42" } }], isError: false } },
      },
    },
  });
});

test("the simple frame has the arguments of its update, by their public names", () => {
  const args = (name: string, given: object) => {
    const [group = []] = openRun().call(name, given, done("ok", command));
    return group.map(({ data }) => ("args" in data ? data.args : "toolCall" in data ? data.toolCall.args : undefined));
  };
  const shell = { command: "ls", workingDirectory: "sub" };
  expect(args("exec_command", { cmd: "ls", workdir: "sub" })).toEqual([shell, shell]);
  const plan = { todos: [{ content: "a", status: "inProgress" }] };
  expect(args("update_plan", { plan: [{ step: "a", status: "in_progress" }] })).toEqual([plan, plan]);
});

test("sizes of files are in bytes", () => {
  const frames = openRun().call("read_file", { path: "a" }, done("1: ü\n2: y"));
  expect(JSON.stringify(frames)).toContain('"content":"ü\\ny","totalLines":2,"fileSize":4');
});

test("a command that failed has run; a refused call is an error with its reason", () => {
  const failed = { ...done("no", { ...command, exitCode: 1 }), status: "failed" } as const;
  const refused = { ...done("no"), status: "declined", reason: "not allowed" } as const;
  const last = (outcome: Outcome) => openRun().call("exec_command", { cmd: "x" }, outcome).at(-1)?.[0];
  expect(last(failed)).toMatchObject({ data: { status: "completed", result: { success: { exitCode: 1 } } } });
  expect(last(refused)).toMatchObject({ data: { status: "error", result: { error: { message: "not allowed" } } } });
});

test("what is too large for a frame is omitted and flagged", () => {
  const long = "x".repeat(200_000);
  const [begun, , settled] = openRun()
    .call("read_file", { path: long }, done(long))
    .flat()
    .filter((frame) => frame.event === "tool_call")
    .flatMap((frame) => [frame, frame]);
  expect(begun?.data).toEqual({ callId: "1.0", name: "read", status: "running", truncated: { args: true } });
  expect(JSON.stringify(settled).length).toBeLessThan(100_000);
});

test("a large file that is written keeps its size and lines; its text is flagged in one frame and shortened in the other", () => {
  const text = "x".repeat(200_000);
  const input = `*** Begin Patch\n*** Add File: a.txt\n+${text}\n*** End Patch`;
  const frames = openRun().call("apply_patch", { input }, done("done")).flat();
  expect(frames[0]?.data).toEqual({ callId: "1.0", name: "write", status: "running", truncated: { args: true } });
  expect(frames.at(-1)).toMatchObject({
    data: {
      toolCall: {
        args: { path: "a.txt", fileText: expect.stringMatching(/^x{100}/) },
        result: { value: { linesCreated: 1, fileSize: 200_001 } },
      },
    },
  });
  expect(JSON.stringify(frames).length).toBeLessThan(100_000);
});

test("a large text deep in the arguments of an MCP call is shortened in its update", () => {
  const args = { list: [{ text: "x".repeat(200_000) }], count: 3, none: null };
  const frames = openRun().call("mcp__s__t", args, done(""), { server: "s", tool: "t" }).flat();
  const [, begun] = frames;
  expect(begun).toMatchObject({ data: { toolCall: { args: { args: { list: [{}], count: 3, none: null } } } } });
  expect(JSON.stringify(begun).length).toBeLessThan(60_000);
});

test("an invalid patch is shown as a failed call", () => {
  const outcome = { ...done("no"), status: "failed", reason: "invalid patch" } as const;
  const calls = openRun().call("apply_patch", { input: "not a patch" }, outcome).flat();
  expect(calls.map(({ data }) => data)).toMatchObject([
    { name: "edit", status: "running", args: { input: "not a patch" } },
    { name: "edit", status: "error", result: { error: { message: "invalid patch" } } },
  ]);
});
