import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  agentTools,
  builtInRoles,
  builtInTools,
  type Dependencies,
  drive,
  type ModelReply,
  type ModelRequest,
  openSubagents,
} from "../src/index.ts";
import { calls, memoryStore, openHarness, replies, type ThreadHarness, textReply } from "./thread-harness.ts";

const noWorkspace = {
  incarnation: "none",
  root: "/project",
  release: async () => {},
} as unknown as Dependencies["workspace"];

const isChild = (request: ModelRequest) =>
  !request.tools.some(({ name }) => name === "spawn_agent") && request.tools.length > 0;
const lastTool = (request: ModelRequest): string => {
  const message = request.messages.findLast(({ role }) => role === "tool");
  return message?.role === "tool" && message.parts[0]?.type === "text" ? message.parts[0].text : "";
};

/** A thread whose children have a memory store each. */
async function openSubagentHarness(
  model: (request: ModelRequest, number: number) => ModelReply,
  { maxOpen = 3, maxDepth = 1 } = {},
) {
  const thread = await openHarness(model, noWorkspace, { tools: [...builtInTools, ...agentTools(builtInRoles)] });
  const logs = new Map<string, ReturnType<typeof memoryStore>>();
  const logOf = (id: string) => logs.get(id) ?? logs.set(id, memoryStore()).get(id) ?? memoryStore();
  let next = 0;
  const subagents = openSubagents({
    store: {
      append: (id, after, records) => logOf(id).append(id, after, records),
      read: (id, after) => logOf(id).read(id, after),
    },
    roles: builtInRoles,
    maxOpen,
    maxDepth,
    newId: () => `agent-${next++}`,
    drive,
    program: { name: "test", version: "0" },
    dependenciesFor: async () => null,
  });
  thread.dependencies.subagents = subagents;
  return { thread, family: subagents, logs };
}

const run = (thread: ThreadHarness) => drive(thread.log, thread.dependencies, new AbortController().signal);

describe("a sub-agent", () => {
  test("works in a thread of its own and its answer reaches the parent", async () => {
    const { thread, logs } = await openSubagentHarness((request) => {
      if (isChild(request)) return textReply("Forty-two.");
      const result = lastTool(request);
      if (result.includes("agent_id"))
        return replies([calls("wait_agent", { targets: [JSON.parse(result).agent_id] })]);
      return result.includes("Forty-two.")
        ? textReply("It is forty-two.")
        : replies([calls("spawn_agent", { message: "What is it?", agent_type: "explorer" })]);
    });
    await thread.begin("ask a sub-agent");
    expect((await run(thread)).end).toEqual({ status: "completed", message: "It is forty-two." });
    const [child] = [...logs.values()].map(({ records }) => records.map(({ record }) => record));
    expect(child?.[0]).toMatchObject({
      type: "thread.created",
      parentId: "thread",
      settings: { sandbox: "read-only" },
    });
    expect(child?.at(-1)).toMatchObject({ type: "turn.ended", end: { status: "completed", message: "Forty-two." } });
  });

  test("is part of what the turn of its parent used and cost", async () => {
    const { thread } = await openSubagentHarness((request) => {
      if (isChild(request)) return textReply("Forty-two.", 5_000);
      const result = lastTool(request);
      if (result.includes("agent_id"))
        return replies([calls("wait_agent", { targets: [JSON.parse(result).agent_id] })], 100);
      return result.includes("Forty-two.")
        ? textReply("It is forty-two.", 100)
        : replies([calls("spawn_agent", { message: "What is it?" })], 100);
    });
    await thread.begin("ask a sub-agent");
    await run(thread);
    expect(thread.store.records.at(-1)?.record).toMatchObject({
      type: "turn.ended",
      agents: { usage: { inputTokens: 5_000, outputTokens: 1 }, costUsd: 0.005001 },
    });
    await thread.begin("without one");
    await run(thread);
    expect(thread.store.records.at(-1)?.record).not.toHaveProperty("agents");
  });

  test("that ends unawaited is reported with the parent's next request, once", async () => {
    let asked = 0;
    const { thread, family: subagents } = await openSubagentHarness((request) => {
      if (isChild(request)) return textReply("Done by the child.");
      asked += 1;
      return asked === 1
        ? replies([calls("spawn_agent", { message: "Go." })])
        : asked < 4
          ? replies([calls("update_plan", { plan: [] })])
          : textReply("End.");
    });
    await thread.begin("spawn and forget");
    await run(thread);
    await subagents.end();
    const news = thread.store.records.filter(({ record }) => record.type === "input.added");
    expect(news).toHaveLength(1);
    expect(JSON.stringify(news[0]?.record)).toContain("Done by the child.");
  });

  test("that still runs when its parent ends is named in a warning, and in what a compaction states", async () => {
    const never = new Promise<ModelReply>(() => {});
    let asked = 0;
    const { thread } = await openSubagentHarness((request) => {
      if (isChild(request)) return never as unknown as ModelReply;
      if (request.toolChoice === "none") return textReply("Short.");
      asked += 1;
      return asked === 1 ? replies([calls("spawn_agent", { message: "Go." })], 60_000) : textReply("End.");
    });
    await thread.begin("spawn and forget", { compactAt: 50_000 });
    await run(thread);
    const compacted = thread.store.records.map(({ record }) => record).find(({ type }) => type === "context.compacted");
    expect(compacted).toMatchObject({ restated: expect.stringContaining("agent-0 (default, default): running") });
    expect(thread.store.records.at(-2)?.record).toMatchObject({
      type: "noted",
      kind: "warning",
      data: { message: expect.stringContaining("still running: default (agent-0)") },
    });
  });

  test("can receive more input, be closed and reopened", async () => {
    const script: ((result: string) => ModelReply)[] = [
      () => replies([calls("spawn_agent", { message: "one" })]),
      () => replies([calls("wait_agent", { targets: ["agent-0"] })]),
      () => replies([calls("send_input", { target: "agent-0", message: "two" })]),
      () => replies([calls("wait_agent", { targets: ["agent-0"] })]),
      () => replies([calls("close_agent", { target: "agent-0" })]),
      () => replies([calls("resume_agent", { id: "agent-0" })]),
      (result) => textReply(result),
    ];
    let step = 0;
    let received = 0;
    const { thread, logs } = await openSubagentHarness((request) => {
      if (isChild(request)) return textReply(`Heard ${++received}.`);
      return script[step++]?.(lastTool(request)) ?? textReply("?");
    });
    await thread.begin("talk");
    expect((await run(thread)).end).toMatchObject({ message: JSON.stringify({ status: { completed: "Heard 2." } }) });
    expect([...logs.values()][0]?.records.filter(({ record }) => record.type === "turn.begun")).toHaveLength(2);
  });

  test("cannot be more than allowed at once, nor of an unknown kind", async () => {
    const spawn = (count: number) =>
      Array.from({ length: count }, (_, index) => calls("spawn_agent", { message: "Go." }, `c${index}`));
    const { thread } = await openSubagentHarness(
      (request, number) => {
        if (isChild(request)) return textReply("Ok.");
        return number === 0
          ? replies([...spawn(4), calls("spawn_agent", { message: "x", agent_type: "wizard" }, "w")])
          : textReply("End.");
      },
      { maxOpen: 3 },
    );
    await thread.begin("many");
    await run(thread);
    const outcomes = thread.store.records.flatMap(({ record }) =>
      record.type === "tool.settled" ? [record.outcome] : [],
    );
    expect(outcomes.filter(({ status }) => status === "completed")).toHaveLength(3);
    expect(JSON.stringify(outcomes)).toContain("There are already 3 open agents");
    expect(JSON.stringify(outcomes)).toContain('Unknown agent type \\"wizard\\"');
  });
});

test("a storm of agents that always spawn stays within depth, number and budget, and ends", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 1, max: 4 }), async (turns, maxOpen) => {
      const {
        thread,
        logs,
        family: subagents,
      } = await openSubagentHarness(
        (request) => {
          if (request.tools.length === 0) return textReply("Wrapped up.", 10);
          return replies([calls("spawn_agent", { message: "More!" }), calls("update_plan", { plan: [] }, "p")], 10);
        },
        { maxOpen },
      );
      await thread.begin("storm", { budget: { turns } });
      const { end } = await run(thread);
      await subagents.end();
      expect(end).toMatchObject({ status: "failed", code: "budget" });
      expect(thread.requests.length).toBeLessThanOrEqual(turns);
      expect(logs.size).toBeLessThanOrEqual(maxOpen);
      for (const { records } of logs.values()) expect(records.at(-1)?.record.type).toBe("turn.ended");
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 50) },
  );
});
