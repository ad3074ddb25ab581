import type { HookOf, Outcome } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filledIn } from "../src/hooks/tool-hook.ts";
import { drive, execEvents, type ModelReply, type ModelRequest, type Tool } from "../src/index.ts";
import { type Hooked, hook, hooked, outputs, shell } from "./hook-bench.ts";
import { calls, replies, says } from "./memory.ts";

function asPrompt(event: string, prompt = "Is this fine?"): HookOf<"prompt"> {
  const { command: _, type: __, ...shared } = hook(event);
  return { ...shared, type: "prompt", prompt };
}

const judged = (request: ModelRequest): boolean => request.instructions.startsWith("You judge one moment");

/** A model that answers hooks with what the test says, and works through its script otherwise. */
function answering(at: Hooked, verdict: ModelReply | "never", script: ModelReply[]): ModelRequest[] {
  const asked: ModelRequest[] = [];
  at.thread.dependencies.wait = verdict === "never" ? async () => {} : untilAborted;
  at.thread.dependencies.model = {
    async reply(request, _, signal) {
      at.thread.requests.push(request);
      if (!judged(request)) return script.shift() ?? says("Done.");
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

describe("a hook that is a question to the model", () => {
  test.each<[string, string, ModelReply | "never", RegExp]>([
    ["PreToolUse", "lets pass", says('{"ok": true, "reason": ""}'), /ran ls/],
    ["PreToolUse", "lets pass in a code block", says('```json\n{"ok": true}\n```'), /ran ls/],
    ["PreToolUse", "refuses", says('{"ok": false, "reason": "not today"}'), /PreToolUse hook: not today\. Command: ls/],
    ["PreToolUse", "refuses when nobody understands it", says("Sure, why not?"), /the model gave no verdict/],
    ["preToolUse", "lets pass", says('{"ok": true}'), /ran ls/],
    ["preToolUse", "refuses", says('I think: {"ok": false, "reason": "not today"}'), /preToolUse hook: not today\./],
    ["preToolUse", "refuses when nobody understands it", says('{"fine": true}'), /the model gave no verdict/],
    [
      "PreToolUse",
      "lets pass when the model fails",
      { kind: "fault", fault: { code: "network", message: "No." } },
      /ran/,
    ],
    ["PreToolUse", "lets pass when there is no answer in time", "never", /ran ls/],
  ])("%s %s", async (event, _, verdict, told) => {
    const at = await hooked([[asPrompt(event)]]);
    answering(at, verdict, [shell("ls"), says("Done.")]);
    await at.run();
    expect(outputs(at)[0]).toMatch(told);
  });

  test.each([
    ["Look at $ARGUMENTS and say.", /^Look at \{"session_id".*"command":"ls".*\} and say\.$/],
    ["Is it fine?", /^Is it fine\?\n\n\{"session_id".*"command":"ls".*\}$/],
  ])("%s is asked about the payload, and for nothing but a verdict", async (prompt, wanted) => {
    const at = await hooked([[{ ...asPrompt("PreToolUse", prompt), model: "small" }]]);
    const asked = answering(at, says('{"ok": true}'), [shell("ls"), says("Done.")]);
    await at.run();
    const shape = { model: "small", tools: [], outputSchema: { required: ["ok", "reason"] } };
    const messages = [{ role: "user", parts: [{ type: "text", text: expect.stringMatching(wanted) }] }];
    expect(asked).toMatchObject([{ ...shape, messages }]);
  });

  test("sends the agent on at the end of a turn", async () => {
    const at = await hooked([[{ ...asPrompt("Stop"), loopLimit: 1 }]]);
    answering(at, says('{"ok": false, "reason": "run the tests"}'), [says("One."), says("Two.")]);
    expect((await at.run()).end).toEqual({ status: "completed", message: "Two." });
    expect(JSON.stringify(at.thread.requests.at(-1)?.messages)).toContain("run the tests");
  });

  test("is paid for: in the ledger, in the usage of the turn, and not beyond the budget", async () => {
    const at = await hooked([[{ ...asPrompt("PreToolUse"), failClosed: true }]]);
    answering(at, says('{"ok": true}', 100), [shell("ls"), says("Done.")]);
    const { account } = await at.run();
    expect(account.ledger).toMatchObject({ turns: 3, tokens: 103 });
    const project = execEvents();
    const events = at.thread.store.records.flatMap(project);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed", usage: { input_tokens: 100, output_tokens: 3 } });
    const poor = await hooked([[{ ...asPrompt("PreToolUse"), failClosed: true }]]);
    const asked = answering(poor, says('{"ok": true}'), [shell("ls"), says("Done.")]);
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

/** How a template names a place of the payload. */
const at = (path: string): string => `\${${path}}`;

describe("a hook that is a tool of a server", () => {
  const { command: _, type: __, ...shared } = hook("PreToolUse");
  const input = {
    what: at("tool_input.command"),
    whole: at("tool_input"),
    text: `in ${at("cwd")}: ${at("nothing")}`,
    list: [1],
  };
  const definition = { ...shared, type: "mcp_tool", server: "checks", tool: "look-up", input } as const;

  test.each<[string, Outcome, RegExp]>([
    ["says nothing against it", result("fine"), /ran ls/],
    ["refuses", result('{"decision": "block", "reason": "no"}'), /PreToolUse hook: no\. Command: ls/],
    ["answers in broken JSON", result("{no"), /not a JSON object/],
    ["fails", result("out of order", "failed"), /ran ls/],
  ])("%s", async (_case, outcome, told) => {
    const at = await hooked([[definition]], [shell("ls"), says("Done.")]);
    at.thread.dependencies.wait = untilAborted;
    const { tool, given } = serverTool(() => outcome);
    at.thread.dependencies.tools = [...at.thread.dependencies.tools, tool];
    await at.run();
    expect(outputs(at)[0]).toMatch(told);
    expect(given).toEqual([{ what: "ls", whole: { command: "ls" }, text: "in /project: ", list: [1] }]);
  });

  test("fails where the server has no such tool", async () => {
    const at = await hooked([[definition]], [shell("ls"), says("Done.")]);
    at.thread.dependencies.wait = untilAborted;
    await at.run();
    expect(at.notes()).toMatchObject([{ status: "failed", reason: expect.stringContaining("has no tool look-up") }]);
    expect(outputs(at)[0]).toContain("ran ls");
  });

  test("is given whatever its template says, and nothing of the machinery behind the payload", () => {
    expect(filledIn(`${at("constructor.name")}${at("__proto__")}`, {})).toBe("");
    fc.assert(
      fc.property(fc.jsonValue(), fc.object(), (template, payload) => {
        expect(() => filledIn(template as never, payload)).not.toThrow();
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});

describe("a call to a server", () => {
  const script = () => [replies([calls("mcp__checks__look_up", { file: "a" })]), says("Done.")];
  const told = async (event: string, outcome = result("seen"), said: object = {}, more = {}) => {
    const at = await hooked([[hook(event, more), said]], script());
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
  ])("is told to %s in its words", async (event, payload, outcome) => {
    const at = await told(event, outcome);
    expect(at.told.map((one) => one.payload)).toMatchObject([payload]);
  });

  test("is matched by the name of its tool", async () => {
    expect((await told("beforeMCPExecution", undefined, {}, { matcher: "^MCP:look-up$" })).told).toHaveLength(1);
    expect((await told("PreToolUse", undefined, {}, { matcher: "mcp__checks__.*" })).told).toHaveLength(1);
    expect((await told("beforeMCPExecution", undefined, {}, { matcher: "MCP:write" })).told).toHaveLength(0);
  });

  test("can be given another output, which no other call can", async () => {
    const said = { stdout: { updated_mcp_tool_output: { content: "better" } } };
    expect(outputs(await told("postToolUse", undefined, said))).toEqual(['{"content":"better"}']);
    expect(outputs(await told("afterMCPExecution", undefined, said))).toEqual(["Wall time\nseen"]);
    const at = await hooked([[hook("postToolUse"), said]], [shell("ls"), says("Done.")]);
    await at.run();
    expect(outputs(at)[0]).toContain("ran ls");
  });
});
