import { tmpdir } from "node:os";
import type { ExecEvent, ToolSpec } from "@agentcli/protocol";
import { openServer, type WorkspaceServer } from "@agentcli/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { drive, type Tool } from "../src/index.ts";
import { calls, openHarness, replies, settings, textReply, usage } from "./thread-harness.ts";

let workspace: WorkspaceServer;
beforeEach(async () => {
  workspace = await openServer({
    root: tmpdir(),
    writable: [],
    env: {},
    incarnation: "first",
    orphans: "ended-by-watchdog",
  });
});
afterEach(() => workspace.close());

const never = new AbortController().signal;

/** A tool of a server that counts how often it ran. */
function remoteTool(onResume: Tool["onResume"]): Tool & { runs: number } {
  const tool: Tool & { runs: number } = {
    runs: 0,
    name: "mcp__tracker__create",
    mcp: { server: "tracker", tool: "create" },
    onResume,
    parallel: false,
    spec: () => ({ form: "function", name: "mcp__tracker__create", description: "", parameters: {} }),
    parse: (input) => ({ kind: "arguments", args: JSON.parse(input) }),
    async run() {
      tool.runs += 1;
      return { status: "completed", parts: [{ type: "text", text: "created" }], detail: { kind: "none" } };
    },
  };
  return tool;
}

describe("an interrupted call to an MCP server", () => {
  test.each([
    ["once", 0, "The outcome of this call is unknown"],
    ["rerun", 1, "created"],
  ] as const)("and is marked %s runs %i times more, even in the same incarnation", async (onResume, runs, expected) => {
    const tool = remoteTool(onResume);
    const events: ExecEvent[] = [];
    const show = execEvents();
    const thread = await openHarness(() => textReply("Done."), workspace, {
      emit: (stored) => void events.push(...show(stored)),
    });
    await thread.begin("create it");
    const begun = { callId: "3.0", name: tool.name, args: { title: "x" }, incarnation: "first", mcp: tool.mcp };
    await thread.log.write(
      { type: "model.replied", blocks: [calls(tool.name, { title: "x" })], usage: usage(), model: "scripted" },
      { type: "tool.begun", ...begun, onResume },
    );
    await drive(thread.log, { ...thread.dependencies, tools: [tool] }, never);
    expect(tool.runs).toBe(runs);
    expect(JSON.stringify(thread.requests[0]?.messages)).toContain(expected);
    const items = events.flatMap((event) =>
      "item" in event && event.item.type === "mcp_tool_call" ? [event.item] : [],
    );
    expect(items.map(({ status }) => status)).toEqual(["in_progress", onResume === "once" ? "failed" : "completed"]);
  });
});

test("a turn that begins with other tools sends them, also after the thread is read back", async () => {
  const tools: ToolSpec[] = [{ form: "function", name: "mcp__late__echo", description: "", parameters: {} }];
  const thread = await openHarness(() => textReply("Done."), workspace);
  await thread.begin("one");
  await drive(thread.log, thread.dependencies, never);
  await thread.log.write({
    type: "turn.begun",
    turnId: "two",
    tools,
    input: [{ type: "text", text: "two" }],
    settings,
  });
  await drive(thread.log, thread.dependencies, never);
  expect(thread.requests[0]?.tools.map(({ name }) => name)).toContain("exec_command");
  expect(thread.requests[1]?.tools).toEqual(tools);
});

test("a declined call is shown like a call that ran", async () => {
  const tool = remoteTool("once");
  const events: ExecEvent[] = [];
  const show = execEvents();
  const script = [replies([calls(tool.name, { title: "x" })]), textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace, {
    emit: (stored) => void events.push(...show(stored)),
  });
  await thread.begin("create it");
  const guard = { admit: async () => ({ kind: "declined", reason: "not now" }) as const };
  await drive(thread.log, { ...thread.dependencies, tools: [tool], guard }, never);
  expect(tool.runs).toBe(0);
  expect(events).toContainEqual({
    type: "item.completed",
    item: {
      id: "item_0",
      type: "mcp_tool_call",
      server: "tracker",
      tool: "create",
      arguments: { title: "x" },
      result: null,
      error: { message: "not now" },
      status: "declined",
      reason: "not now",
    },
  });
});
