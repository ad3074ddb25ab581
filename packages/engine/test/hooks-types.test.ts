import type { HookOf, Outcome } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { fillTemplate } from "../src/hooks/tool-hook.ts";
import { drive, type ModelReply, type ModelRequest, type Tool } from "../src/index.ts";
import { type HookHarness, hook, openHookHarness, outputs, shell } from "./hook-harness.ts";
import { calls, replies, textReply } from "./thread-harness.ts";

function asPrompt(event: string, prompt = "Is this fine?"): HookOf<"prompt"> {
  const { command: _, type: __, ...shared } = hook(event);
  return { ...shared, type: "prompt", prompt };
}

const judged = (request: ModelRequest): boolean => request.instructions.startsWith("You judge one moment");

/** A model that answers prompt hooks with the given reply and follows its script otherwise. */
function answering(at: HookHarness, verdict: ModelReply | "never", script: ModelReply[]): ModelRequest[] {
  const asked: ModelRequest[] = [];
  at.thread.dependencies.wait = verdict === "never" ? async () => {} : untilAborted;
  at.thread.dependencies.model = {
    async reply(request, _, signal) {
      at.thread.requests.push(request);
      if (!judged(request)) return script.shift() ?? textReply("Done.");
      asked.push(request);
      if (verdict !== "never") return verdict;
      await untilAborted(0, signal);
      return { kind: "fault", fault: { code: "interrupted", message: "stopped" } };
    },
  };
  return asked;
}

const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe("a prompt hook", () => {
  test.each<[string, string, ModelReply | "never", RegExp]>([
    ["PreToolUse", "lets pass", textReply('{"ok": true, "reason": ""}'), /ran ls/],
    ["PreToolUse", "lets pass in a code block", textReply('```json\n{"ok": true}\n```'), /ran ls/],
    [
      "PreToolUse",
      "refuses",
      textReply('{"ok": false, "reason": "not today"}'),
      /PreToolUse hook: not today\. Command: ls/,
    ],
    [
      "PreToolUse",
      "refuses when the answer cannot be parsed",
      textReply("Sure, why not?"),
      /the model gave no verdict/,
    ],
    ["preToolUse", "lets pass", textReply('{"ok": true}'), /ran ls/],
    [
      "preToolUse",
      "refuses",
      textReply('I think: {"ok": false, "reason": "not today"}'),
      /preToolUse hook: not today\./,
    ],
    [
      "preToolUse",
      "refuses when the answer cannot be parsed",
      textReply('{"fine": true}'),
      /the model gave no verdict/,
    ],
    [
      "PreToolUse",
      "lets pass when the model fails",
      { kind: "fault", fault: { code: "network", message: "No." } },
      /ran/,
    ],
    ["PreToolUse", "lets pass when there is no answer in time", "never", /ran ls/],
  ])("%s %s", async (event, _, verdict, expected) => {
    const at = await openHookHarness([[asPrompt(event)]]);
    answering(at, verdict, [shell("ls"), textReply("Done.")]);
    await at.run();
    expect(outputs(at)[0]).toMatch(expected);
  });

  test.each([
    ["Look at $ARGUMENTS and say.", /^Look at \{"session_id".*"command":"ls".*\} and say\.$/],
    ["Is it fine?", /^Is it fine\?\n\n\{"session_id".*"command":"ls".*\}$/],
  ])("%s is asked about the payload, and for nothing but a verdict", async (prompt, wanted) => {
    const at = await openHookHarness([[{ ...asPrompt("PreToolUse", prompt), model: "small" }]]);
    const asked = answering(at, textReply('{"ok": true}'), [shell("ls"), textReply("Done.")]);
    await at.run();
    const shape = { model: "small", tools: [], outputSchema: { required: ["ok", "reason"] } };
    const messages = [{ role: "user", parts: [{ type: "text", text: expect.stringMatching(wanted) }] }];
    expect(asked).toMatchObject([{ ...shape, messages }]);
  });

  test("keeps the turn from ending", async () => {
    const at = await openHookHarness([[{ ...asPrompt("Stop"), loopLimit: 1 }]]);
    answering(at, textReply('{"ok": false, "reason": "run the tests"}'), [textReply("One."), textReply("Two.")]);
    expect((await at.run()).end).toEqual({ status: "completed", message: "Two." });
    expect(JSON.stringify(at.thread.requests.at(-1)?.messages)).toContain("run the tests");
  });

  test("is charged: in the ledger, in the usage of the turn, and not beyond the budget", async () => {
    const at = await openHookHarness([[{ ...asPrompt("PreToolUse"), failClosed: true }]]);
    answering(at, textReply('{"ok": true}', 100), [shell("ls"), textReply("Done.")]);
    const { account } = await at.run();
    expect(account.ledger).toMatchObject({ requests: 3, tokens: 103 });
    const project = execEvents();
    const events = at.thread.store.records.flatMap(project);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed", usage: { input_tokens: 100, output_tokens: 3 } });
    const poor = await openHookHarness([[{ ...asPrompt("PreToolUse"), failClosed: true }]]);
    const asked = answering(poor, textReply('{"ok": true}'), [shell("ls"), textReply("Done.")]);
    await poor.thread.begin("go on", { budget: { turns: 2 } });
    await drive(poor.thread.log, poor.thread.dependencies, new AbortController().signal);
    expect(asked).toEqual([]);
    expect(poor.notes()).toMatchObject([{ status: "blocked", reason: "the budget of turns is spent" }]);
  });
});

function serverTool(outcome: (args: unknown) => Outcome): { tool: Tool; given: unknown[] } {
  const given: unknown[] = [];
  const tool: Tool = {
    name: "mcp__checks__look_up",
    mcp: { server: "checks", tool: "look-up" },
    onResume: "once",
    parallel: true,
    spec: () => ({ form: "function", name: "mcp__checks__look_up", description: "", parameters: {} }),
    parse: (input) => ({ kind: "arguments", args: JSON.parse(input) }),
    async run(args) {
      given.push(args);
      return outcome(args);
    },
  };
  return { tool, given };
}

const result = (text: string, status: "completed" | "failed" = "completed"): Outcome => ({
  status,
  parts: [{ type: "text", text: `Wall time\n${text}` }],
  detail: {
    kind: "mcp",
    server: "checks",
    tool: "look-up",
    arguments: {},
    result: { content: [{ type: "text", text }], structuredContent: null },
    error: null,
    durationMs: 2,
  },
});

/** How a template refers to a value of the payload. */
const at = (path: string): string => `\${${path}}`;

describe("a hook that calls a tool of an MCP server", () => {
  const { command: _, type: __, ...shared } = hook("PreToolUse");
  const input = {
    what: at("tool_input.command"),
    whole: at("tool_input"),
    text: `in ${at("cwd")}: ${at("nothing")}`,
    list: [1],
  };
  const definition = { ...shared, type: "mcp_tool", server: "checks", tool: "look-up", input } as const;

  test.each<[string, Outcome, RegExp]>([
    ["returns text without a refusal", result("fine"), /ran ls/],
    ["refuses", result('{"decision": "block", "reason": "no"}'), /PreToolUse hook: no\. Command: ls/],
    ["answers in broken JSON", result("{no"), /not a JSON object/],
    ["fails", result("out of order", "failed"), /ran ls/],
  ])("%s", async (_case, outcome, expected) => {
    const at = await openHookHarness([[definition]], [shell("ls"), textReply("Done.")]);
    at.thread.dependencies.wait = untilAborted;
    const { tool, given } = serverTool(() => outcome);
    at.thread.dependencies.tools = [...at.thread.dependencies.tools, tool];
    await at.run();
    expect(outputs(at)[0]).toMatch(expected);
    expect(given).toEqual([{ what: "ls", whole: { command: "ls" }, text: "in /project: ", list: [1] }]);
  });

  test("fails where the server has no such tool", async () => {
    const at = await openHookHarness([[definition]], [shell("ls"), textReply("Done.")]);
    at.thread.dependencies.wait = untilAborted;
    await at.run();
    expect(at.notes()).toMatchObject([{ status: "failed", reason: expect.stringContaining("has no tool look-up") }]);
    expect(outputs(at)[0]).toContain("ran ls");
  });

  test("receives the values its template names, and nothing of the prototype of the payload", () => {
    expect(fillTemplate(`${at("constructor.name")}${at("__proto__")}`, {})).toBe("");
    fc.assert(
      fc.property(fc.jsonValue(), fc.object(), (template, payload) => {
        expect(() => fillTemplate(template as never, payload)).not.toThrow();
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});

describe("a call to a server", () => {
  const script = () => [replies([calls("mcp__checks__look_up", { file: "a" })]), textReply("Done.")];
  const callServer = async (event: string, outcome = result("seen"), answer: object = {}, more = {}) => {
    const at = await openHookHarness([[hook(event, more), answer]], script());
    const { tool } = serverTool(() => outcome);
    at.thread.dependencies.tools = [...at.thread.dependencies.tools, tool];
    await at.run();
    return at;
  };
  const answer = { content: [{ type: "text", text: "seen" }], isError: false };

  test.each<[string, object, Outcome?]>([
    ["PreToolUse", { tool_name: "mcp__checks__look_up", tool_input: { file: "a" } }],
    ["PostToolUse", { tool_name: "mcp__checks__look_up", tool_input: { file: "a" }, tool_response: answer }],
    ["preToolUse", { tool_name: "MCP:look-up", tool_input: { file: "a" } }],
    ["postToolUse", { tool_name: "MCP:look-up", tool_output: JSON.stringify(answer) }],
    [
      "beforeMCPExecution",
      {
        tool_name: "look-up",
        tool_input: '{"file":"a"}',
        mcp_server_name: "checks",
        url: "https://checks.example.com/mcp",
        mcp_server_url: "https://checks.example.com/mcp",
      },
    ],
    [
      "afterMCPExecution",
      {
        tool_name: "look-up",
        tool_input: '{"file":"a"}',
        mcp_server_name: "checks",
        mcp_server_url: "https://checks.example.com/mcp",
        result_json: JSON.stringify(answer),
      },
    ],
    ["postToolUseFailure", { failure_type: "error", error_message: "Wall time\nno" }, result("no", "failed")],
    ["afterMCPExecution", { tool_name: "look-up", mcp_server_name: "checks" }, result("no", "failed")],
  ])("is reported to %s in its dialect", async (event, payload, outcome) => {
    const at = await callServer(event, outcome);
    expect(at.received.map((one) => one.payload)).toMatchObject([payload]);
  });

  test("is matched by the name of its tool", async () => {
    expect((await callServer("beforeMCPExecution", undefined, {}, { matcher: "^MCP:look-up$" })).received).toHaveLength(
      1,
    );
    expect((await callServer("PreToolUse", undefined, {}, { matcher: "mcp__checks__.*" })).received).toHaveLength(1);
    expect((await callServer("beforeMCPExecution", undefined, {}, { matcher: "MCP:write" })).received).toHaveLength(0);
  });

  test("can have its output replaced, unlike other calls", async () => {
    const answer = { stdout: { updated_mcp_tool_output: { content: "better" } } };
    expect(outputs(await callServer("postToolUse", undefined, answer))).toEqual(['{"content":"better"}']);
    expect(outputs(await callServer("afterMCPExecution", undefined, answer))).toEqual(["Wall time\nseen"]);
    const at = await openHookHarness([[hook("postToolUse"), answer]], [shell("ls"), textReply("Done.")]);
    await at.run();
    expect(outputs(at)[0]).toContain("ran ls");
  });
});
