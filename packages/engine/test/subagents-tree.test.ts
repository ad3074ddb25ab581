import { openKilledStore, type StoredThreads } from "@agentcli/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentRole, builtInRoles } from "../src/index.ts";
import { createdIn, depthIn, runTree, type Script, scriptedModel, spawn, taskOf, tool } from "./subagent-harness.ts";
import { calls, replies, textReply } from "./thread-harness.ts";

const wait = (...targets: string[]) => calls("wait_agent", { targets, timeout_ms: 3_600_000 }, "wait");
const echo = (results: string[]) => textReply(results.at(-1) ?? "");
/** Works until it is stopped. */
const busy = tool("busy", (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(""))));
const endsOf = (threads: StoredThreads) =>
  [...threads.values()]
    .map((records) => records.at(-1)?.record)
    .map((last) => (last?.type === "turn.ended" ? last.end : null));

describe("a tree of sub-agents", () => {
  test("goes as deep as allowed; the deepest cannot spawn, whatever they call", async () => {
    const storage = openKilledStore();
    const script = scriptedModel({
      main: [() => replies([spawn("a")]), () => replies([wait("default")]), echo],
      a: [() => replies([spawn("b")]), () => replies([wait("default 2")]), echo],
      b: [() => replies([spawn("c")]), echo],
    });
    const { end, requests } = await runTree(script, storage, { maxDepth: 2 });
    expect(JSON.stringify(end)).toContain("unsupported call: spawn_agent");
    expect([...storage.threads.keys()].map((id) => depthIn(storage.threads, id))).toEqual([0, 1, 2]);
    const offered = (name: string) =>
      requests.find((request) => taskOf(request) === name)?.tools.some((each) => each.name === "spawn_agent");
    expect([offered("a"), offered("b")]).toEqual([true, false]);
  });

  test("ends at every level when it is closed at its top, and its slots are free again", async () => {
    const storage = openKilledStore();
    let begun = () => {};
    const leafBegan = new Promise<string>((resolve) => {
      begun = () => resolve("It has.");
    });
    const meet = tool("meet", () => leafBegan);
    const script: Script = {
      main: [
        () => replies([spawn("branch")]),
        () => replies([calls("meet", {})]),
        () => replies([spawn("more")]),
        () => replies([calls("close_agent", { target: "default" })]),
        () => replies([spawn("more")]),
        () => replies([wait("default 3")]),
        (results) => textReply(results.join("\n")),
      ],
      branch: [() => replies([spawn("leaf")]), () => replies([wait("default 2")])],
      leaf: [
        () => {
          begun();
          return replies([calls("busy", {})]);
        },
      ],
      more: [() => textReply("More.")],
    };
    const { end } = await runTree(scriptedModel(script), storage, { maxOpen: 2, tools: [busy, meet] });
    expect(end).toMatchObject({
      status: "completed",
      message: expect.stringMatching(/already 2 open agents.*More\./s),
    });
    expect(endsOf(storage.threads).map((each) => each?.status)).toEqual([
      "completed",
      "cancelled",
      "cancelled",
      "completed",
    ]);
  });

  test("does not outlive the turn of its ancestors", async () => {
    const storage = openKilledStore();
    const script: Script = {
      main: [() => replies([spawn("branch")]), () => replies([wait("default")]), echo],
      branch: [() => replies([spawn("leaf")]), () => textReply("Not waiting.")],
      leaf: [() => replies([calls("busy", {})])],
    };
    const { end } = await runTree(scriptedModel(script), storage, { tools: [busy] });
    expect(end).toMatchObject({ message: expect.stringContaining("Not waiting.") });
    expect(endsOf(storage.threads)[2]).toMatchObject({ status: "cancelled", reason: "Its parent has ended." });
  });

  test("limits a role to its tools in what it calls, not only in what it is offered", async () => {
    const storage = openKilledStore();
    let done = 0;
    const work = tool("work", async () => `Done ${++done} times.`);
    const reader: AgentRole = {
      name: "reader",
      description: "",
      instructions: "",
      model: "inherit",
      tools: ["update_plan"],
    };
    const script: Script = {
      main: [() => replies([spawn("read", { agent_type: "reader" })]), () => replies([wait("reader")]), echo],
      read: [() => replies([calls("work", {})]), echo],
    };
    const { end } = await runTree(scriptedModel(script), storage, { tools: [work], roles: [...builtInRoles, reader] });
    expect(JSON.stringify(end)).toContain("unsupported call: work");
    expect(done).toBe(0);
  });

  test("gives its members unique nicknames of their roles", async () => {
    const storage = openKilledStore();
    const named: AgentRole = {
      name: "crew",
      description: "",
      instructions: "",
      model: "inherit",
      nicknames: ["Ada", "Bo"],
    };
    const ofCrew = { agent_type: "crew" };
    const script: Script = {
      main: [() => replies([spawn("a", ofCrew), spawn("b", ofCrew), spawn("c", ofCrew)]), () => textReply("Named.")],
      a: [echo],
      b: [echo],
      c: [echo],
    };
    await runTree(scriptedModel(script), storage, { roles: [...builtInRoles, named] });
    expect(createdIn(storage.threads).map(({ nickname }) => nickname)).toEqual([undefined, "Ada", "Bo", "Ada 2"]);
  });
});

/** A model that spawns at every level, whatever its prompt. */
const storm = () => replies([spawn("more"), spawn("more"), calls("update_plan", { plan: [] }, "p")], 10);

test("a storm of agents that spawn at every level stays within depth, number and budget, and ends", async () => {
  const numbers = fc.record({
    turns: fc.integer({ min: 2, max: 60 }),
    maxOpen: fc.integer({ min: 1, max: 8 }),
    maxDepth: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(numbers, async ({ turns, maxOpen, maxDepth }) => {
      const storage = openKilledStore();
      const model = (request: Parameters<typeof taskOf>[0]) =>
        request.tools.length === 0 ? textReply("Wrapped up.", 10) : storm();
      const { end, requests } = await runTree(model, storage, { maxOpen, maxDepth, turn: { budget: { turns } } });
      expect(end).toMatchObject({ status: "failed", code: "budget" });
      expect(requests.length).toBeLessThanOrEqual(turns);
      expect(storage.threads.size).toBeLessThanOrEqual(maxOpen + 1);
      for (const id of storage.threads.keys()) expect(depthIn(storage.threads, id)).toBeLessThanOrEqual(maxDepth);
      for (const each of endsOf(storage.threads)) expect(each).not.toBeNull();
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 50) },
  );
});

describe("killed at a write of any thread, and resumed", () => {
  /** Two branches, one with a leaf; each has one side effect that must not happen twice. */
  const script: Script = {
    main: [
      () => replies([spawn("left", { agent_type: "worker" }), spawn("right", { agent_type: "explorer" })]),
      () => replies([wait("worker")]),
      () => replies([wait("explorer")]),
      () => replies([calls("send_input", { target: "worker", message: "task leftagain" })]),
      () => replies([wait("worker")]),
      () => replies([calls("close_agent", { target: "worker" })]),
      () => textReply("Done."),
    ],
    left: [
      () => replies([calls("work", { by: "left" })]),
      () => replies([spawn("leaf")]),
      () => replies([wait("default")]),
      () => textReply("Left."),
    ],
    right: [() => replies([calls("work", { by: "right" })]), () => textReply("Right.")],
    leaf: [() => replies([calls("work", { by: "leaf" })]), () => textReply("Leaf.")],
    leftagain: [() => replies([calls("work", { by: "leftagain" })]), () => textReply("Again.")],
  };
  const workers = ["left", "right", "leaf", "leftagain"];

  /** The task `leftagain` begins after the four replies of `left`. */
  const model = (request: Parameters<typeof taskOf>[0]) => {
    const isAgain = taskOf(request) === "leftagain";
    const before = request.messages.findLastIndex((message) => JSON.stringify(message).includes("task leftagain"));
    return scriptedModel(script)(isAgain ? { ...request, messages: request.messages.slice(before) } : request);
  };

  async function sweep(killAt: number) {
    const done: string[] = [];
    const work = tool("work", async (args) => `${done.push((args as { by: string }).by)}`);
    const first = openKilledStore(new Map(), killAt);
    const { end } = await runTree(model, first, { tools: [work] });
    if (end !== "killed") return { end, done, threads: first.threads, writes: first.writes() };
    const second = openKilledStore(first.threads);
    const resumed = await runTree(model, second, { tools: [work] });
    return { ...resumed, done, threads: second.threads, writes: first.writes() };
  }

  test("the run ends the same, with the same threads, and nothing happens twice", async () => {
    const { writes } = await sweep(Infinity);
    expect(writes).toBeGreaterThan(40);
    for (let killAt = 1; killAt <= writes; killAt += 1) {
      const { end, done, threads } = await sweep(killAt);
      const where = `killed at write ${killAt} of ${writes}`;
      expect(end, where).toMatchObject({ status: "completed", message: "Done." });
      expect(threads.size, where).toBe(4);
      expect(new Set(done).size, `${where}: ${done}`).toBe(done.length);
      const unknown = [...threads.values()]
        .flat()
        .filter(({ record }) => record.type === "tool.settled" && record.outcome.status === "interrupted");
      // Calls that ran at that moment have an unknown outcome; all others completed.
      expect(done.length, where).toBeGreaterThanOrEqual(workers.length - unknown.length);
      for (const each of endsOf(threads)) expect(each, where).toMatchObject({ status: "completed" });
      const ids = createdIn(threads).map(({ threadId }) => threadId);
      expect(new Set(ids).size, where).toBe(4);
    }
  });

  test("spending of sub-agents counts from the first request on", async () => {
    const done = tool("work", async () => "1");
    const first = openKilledStore();
    await runTree(model, first, { tools: [done] });
    const requests = [...first.threads.values()].flat().filter(({ record }) => record.type === "model.replied").length;
    // Interrupted in the last step of the main thread: all other requests are already charged.
    const main = first.threads.get("main") ?? [];
    first.threads.set(
      "main",
      main.slice(
        0,
        main.findLastIndex(({ record }) => record.type === "model.replied"),
      ),
    );
    const resumed = await runTree(model, openKilledStore(first.threads), {
      tools: [done],
      turn: { budget: { turns: requests - 1 } },
    });
    expect(resumed.end).toMatchObject({ status: "failed", code: "budget" });
    expect(resumed.requests).toHaveLength(0);
  });

  test("sub-agents that a log names only in results are found too", async () => {
    const { threads } = openKilledStore();
    const first = openKilledStore(threads);
    const tools = [tool("work", async () => "1")];
    await runTree(model, first, { tools });
    for (const [id, records] of threads)
      threads.set(
        id,
        records.map(({ record, ...rest }) => {
          if (record.type !== "tool.begun") return { ...rest, record };
          const { makes: _, ...older } = record;
          return { ...rest, record: older };
        }),
      );
    const { end } = await runTree(
      scriptedModel({ main: [...Array(7).fill(() => textReply("?")), () => replies([wait("explorer")]), echo] }),
      openKilledStore(threads),
      { tools },
    );
    expect(end).toMatchObject({ message: expect.stringContaining("Right.") });
  });

  test("sub-agents of an abandoned turn are stopped, found, and charged to their own turn", async () => {
    const idle: Script = {
      main: [() => replies([spawn("busy")]), () => replies([calls("work", {})])],
      busy: [() => replies([calls("busy", {})])],
    };
    const dying = openKilledStore();
    const never = tool("work", () => new Promise(() => {}));
    void runTree(scriptedModel(idle), dying, { tools: [busy, never] });
    const isBusy = () =>
      [...dying.threads.values()].flat().filter(({ record }) => record.type === "tool.begun").length === 3;
    while (!isBusy()) await new Promise((resolve) => setImmediate(resolve));
    const threads: StoredThreads = new Map([...dying.threads].map(([id, records]) => [id, [...records]]));
    const main = threads.get("main") ?? [];
    const seq = main.length + 1;
    const end = { status: "cancelled" as const, reason: "another prompt" };
    main.push({ seq, at: "", record: { type: "turn.ended", turnId: "any", end } });
    const script: Script = {
      main: [() => textReply("?"), () => textReply("?"), () => replies([wait("default")]), echo],
    };
    const { end: after, requests } = await runTree(scriptedModel(script), openKilledStore(threads), {
      turn: { budget: { turns: 4 } },
    });
    expect(after).toMatchObject({ status: "completed", message: expect.stringContaining("interrupted") });
    expect(requests).toHaveLength(2);
    expect(endsOf(threads)[1]).toMatchObject({ status: "cancelled", reason: "Its parent has ended." });
  });
});
