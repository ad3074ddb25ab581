import { describe, expect, test } from "vitest";
import {
  agentTools,
  builtInRoles,
  builtInTools,
  drive,
  type ModelReply,
  type ModelRequest,
  openSubagents,
} from "../src/index.ts";
import { hook, openHookHarness, shell, specific } from "./hook-harness.ts";
import { calls, memoryStore, replies, textReply } from "./thread-harness.ts";

describe("hooks of sub-agents", () => {
  async function withAgents(hooks: Parameters<typeof openHookHarness>[0], model: (isChild: boolean) => ModelReply) {
    const at = await openHookHarness(hooks);
    const stores = new Map<string, ReturnType<typeof memoryStore>>();
    const storeOf = (id: string) => stores.get(id) ?? stores.set(id, memoryStore()).get(id) ?? memoryStore();
    at.thread.dependencies.tools = [...builtInTools, ...agentTools(builtInRoles)];
    at.thread.dependencies.subagents = openSubagents({
      store: {
        append: (id, after, records) => storeOf(id).append(id, after, records),
        read: (id, after) => storeOf(id).read(id, after),
      },
      roles: builtInRoles,
      maxOpen: 3,
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
      textReply("Done."),
    ];
    return () => script.shift() ?? textReply("Done.");
  };

  test("give it context, run when it ends, and receive its type", async () => {
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
      (isChild) => (isChild ? textReply("Found.") : next()),
    );
    expect((await at.run()).end).toMatchObject({ status: "completed" });
    await at.thread.dependencies.subagents?.end();
    expect(at.received.map(({ event }) => event)).toEqual([
      "SubagentStart",
      "SubagentStop",
      "subagentStop",
      "SubagentStop",
      "subagentStop",
      "Stop",
    ]);
    expect(at.received[0]?.payload).toMatchObject({ session_id: "thread", agent_id: "child", agent_type: "explorer" });
    expect(at.received[1]?.payload).toMatchObject({
      session_id: "thread",
      agent_id: "child",
      stop_hook_active: false,
      agent_transcript_path: "/sessions/child.jsonl",
      last_assistant_message: "Found.",
    });
    expect(at.received[4]?.payload).toMatchObject({
      subagent_id: "child",
      subagent_type: "explorer",
      task: "find out",
      summary: "Found.",
      loop_count: 1,
      parent_conversation_id: "thread",
    });
    expect(JSON.stringify(stores.get("child")?.records[0])).toContain("look in src");
    expect(at.notes().map(({ event, status, agentId }) => [event, status, agentId])).toEqual([
      ["SubagentStart", "completed", undefined],
      ["SubagentStop", "blocked", "child"],
      ["subagentStop", "completed", "child"],
      ["SubagentStop", "completed", "child"],
      ["subagentStop", "completed", "child"],
      ["Stop", "completed", undefined],
    ]);
  });

  test("may refuse it", async () => {
    const next = spawning();
    const deny = { stdout: { permission: "deny", user_message: "alone" } };
    const { at, stores } = await withAgents([[hook("subagentStart"), deny]], () => next());
    await at.run();
    expect(stores.get("child")?.records ?? []).toEqual([]);
    expect(JSON.stringify(at.thread.store.records)).toContain("Sub-agent blocked by subagentStart hook: alone");
  });

  test("are noted in the main thread, and take effect only in the sub-agent", async () => {
    const next = spawning();
    const context = specific("PostToolUse", { additionalContext: "for the child" });
    const { at, stores } = await withAgents([[hook("PostToolUse", { matcher: "Bash" }), context]], (isChild) => {
      if (!isChild) return next();
      return (stores.get("child")?.records.length ?? 0) < 4 ? shell("ls") : textReply("Found.");
    });
    await at.runLast();
    expect(JSON.stringify(stores.get("child")?.records)).toContain("for the child");
    expect(JSON.stringify(at.thread.store.records)).not.toContain("for the child");
    expect(at.notes()).toMatchObject([{ event: "PostToolUse", agentId: "child", durationMs: 3 }]);
  });
});
