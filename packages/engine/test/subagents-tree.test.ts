import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentRole, builtInRoles } from "../src/index.ts";
import {
  acting,
  createdIn,
  depthIn,
  grow,
  type Script,
  spawn,
  type Threads,
  taskOf,
  threadStore,
  tool,
} from "./forest.ts";
import { calls, replies, says } from "./memory.ts";

const wait = (...targets: string[]) => calls("wait_agent", { targets, timeout_ms: 3_600_000 }, "wait");
const echo = (results: string[]) => says(results.at(-1) ?? "");
/** Works until somebody stops it. */
const busy = tool("busy", (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(""))));
const endsOf = (known: Threads) =>
  [...known.values()]
    .map((records) => records.at(-1)?.record)
    .map((last) => (last?.type === "turn.ended" ? last.end : null));

describe("a tree of sub-agents", () => {
  test("goes as deep as allowed; the deepest have no tools for agents, whatever they call", async () => {
    const place = threadStore();
    const script = acting({
      main: [() => replies([spawn("a")]), () => replies([wait("default")]), echo],
      a: [() => replies([spawn("b")]), () => replies([wait("default 2")]), echo],
      b: [() => replies([spawn("c")]), echo],
    });
    const { end, requests } = await grow(script, place, { maxDepth: 2 });
    expect(JSON.stringify(end)).toContain("unsupported call: spawn_agent");
    expect([...place.known.keys()].map((id) => depthIn(place.known, id))).toEqual([0, 1, 2]);
    const offered = (name: string) =>
      requests.find((request) => taskOf(request) === name)?.tools.some((each) => each.name === "spawn_agent");
    expect([offered("a"), offered("b")]).toEqual([true, false]);
  });

  test("ends at every level when it is closed at its top, and its places are free again", async () => {
    const place = threadStore();
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
        (results) => says(results.join("\n")),
      ],
      branch: [() => replies([spawn("leaf")]), () => replies([wait("default 2")])],
      leaf: [
        () => {
          begun();
          return replies([calls("busy", {})]);
        },
      ],
      more: [() => says("More.")],
    };
    const { end } = await grow(acting(script), place, { mostOpen: 2, tools: [busy, meet] });
    expect(end).toMatchObject({
      status: "completed",
      message: expect.stringMatching(/2 open agents already.*More\./s),
    });
    expect(endsOf(place.known).map((each) => each?.status)).toEqual([
      "completed",
      "cancelled",
      "cancelled",
      "completed",
    ]);
  });

  test("does not outlive the turn of those above it", async () => {
    const place = threadStore();
    const script: Script = {
      main: [() => replies([spawn("branch")]), () => replies([wait("default")]), echo],
      branch: [() => replies([spawn("leaf")]), () => says("Not waiting.")],
      leaf: [() => replies([calls("busy", {})])],
    };
    const { end } = await grow(acting(script), place, { tools: [busy] });
    expect(end).toMatchObject({ message: expect.stringContaining("Not waiting.") });
    expect(endsOf(place.known)[2]).toMatchObject({ status: "cancelled", reason: "Its parent has ended." });
  });

  test("holds a role to its list of tools in what it calls, not only in what it is shown", async () => {
    const place = threadStore();
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
    const { end } = await grow(acting(script), place, { tools: [work], roles: [...builtInRoles, reader] });
    expect(JSON.stringify(end)).toContain("unsupported call: work");
    expect(done).toBe(0);
  });

  test("calls its members by the names of their roles, each differently", async () => {
    const place = threadStore();
    const named: AgentRole = {
      name: "crew",
      description: "",
      instructions: "",
      model: "inherit",
      nicknames: ["Ada", "Bo"],
    };
    const ofCrew = { agent_type: "crew" };
    const script: Script = {
      main: [() => replies([spawn("a", ofCrew), spawn("b", ofCrew), spawn("c", ofCrew)]), () => says("Named.")],
      a: [echo],
      b: [echo],
      c: [echo],
    };
    await grow(acting(script), place, { roles: [...builtInRoles, named] });
    expect(createdIn(place.known).map(({ nickname }) => nickname)).toEqual([undefined, "Ada", "Bo", "Ada 2"]);
  });
});

/** A model that spawns at every level, whatever it is told. */
const storm = () => replies([spawn("more"), spawn("more"), calls("update_plan", { plan: [] }, "p")], 10);

test("a storm of agents that spawn at every level stays within depth, number and budget, and ends", async () => {
  const numbers = fc.record({
    turns: fc.integer({ min: 2, max: 60 }),
    mostOpen: fc.integer({ min: 1, max: 8 }),
    maxDepth: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(numbers, async ({ turns, mostOpen, maxDepth }) => {
      const place = threadStore();
      const model = (request: Parameters<typeof taskOf>[0]) =>
        request.tools.length === 0 ? says("Wrapped up.", 10) : storm();
      const { end, requests } = await grow(model, place, { mostOpen, maxDepth, turn: { budget: { turns } } });
      expect(end).toMatchObject({ status: "failed", code: "budget" });
      expect(requests.length).toBeLessThanOrEqual(turns);
      expect(place.known.size).toBeLessThanOrEqual(mostOpen + 1);
      for (const id of place.known.keys()) expect(depthIn(place.known, id)).toBeLessThanOrEqual(maxDepth);
      for (const each of endsOf(place.known)) expect(each).not.toBeNull();
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 50) },
  );
});

describe("killed at a write of any thread, and taken up again", () => {
  /** Two branches, one with a leaf; each does one thing that must not be done twice. */
  const script: Script = {
    main: [
      () => replies([spawn("left", { agent_type: "worker" }), spawn("right", { agent_type: "explorer" })]),
      () => replies([wait("worker")]),
      () => replies([wait("explorer")]),
      () => replies([calls("send_input", { target: "worker", message: "task leftagain" })]),
      () => replies([wait("worker")]),
      () => replies([calls("close_agent", { target: "worker" })]),
      () => says("Done."),
    ],
    left: [
      () => replies([calls("work", { by: "left" })]),
      () => replies([spawn("leaf")]),
      () => replies([wait("default")]),
      () => says("Left."),
    ],
    right: [() => replies([calls("work", { by: "right" })]), () => says("Right.")],
    leaf: [() => replies([calls("work", { by: "leaf" })]), () => says("Leaf.")],
    leftagain: [() => replies([calls("work", { by: "leftagain" })]), () => says("Again.")],
  };
  const workers = ["left", "right", "leaf", "leftagain"];

  /** The task `leftagain` begins behind the four replies of `left`. */
  const model = (request: Parameters<typeof taskOf>[0]) => {
    const isAgain = taskOf(request) === "leftagain";
    const before = request.messages.findLastIndex((message) => JSON.stringify(message).includes("task leftagain"));
    return acting(script)(isAgain ? { ...request, messages: request.messages.slice(before) } : request);
  };

  async function sweep(dieAt: number) {
    const done: string[] = [];
    const work = tool("work", async (args) => `${done.push((args as { by: string }).by)}`);
    const first = threadStore(new Map(), dieAt);
    const { end } = await grow(model, first, { tools: [work] });
    if (end !== "killed") return { end, done, known: first.known, writes: first.writes() };
    const second = threadStore(first.known);
    const resumed = await grow(model, second, { tools: [work] });
    return { ...resumed, done, known: second.known, writes: first.writes() };
  }

  test("the run ends the same, with the same threads, and nothing is done twice", async () => {
    const { writes } = await sweep(Infinity);
    expect(writes).toBeGreaterThan(40);
    for (let dieAt = 1; dieAt <= writes; dieAt += 1) {
      const { end, done, known } = await sweep(dieAt);
      const where = `killed at write ${dieAt} of ${writes}`;
      expect(end, where).toMatchObject({ status: "completed", message: "Done." });
      expect(known.size, where).toBe(4);
      expect(new Set(done).size, `${where}: ${done}`).toBe(done.length);
      const unknown = [...known.values()]
        .flat()
        .filter(({ record }) => record.type === "tool.settled" && record.outcome.status === "interrupted");
      // What was under way in each thread at that moment is unknown; all the rest was done.
      expect(done.length, where).toBeGreaterThanOrEqual(workers.length - unknown.length);
      for (const each of endsOf(known)) expect(each, where).toMatchObject({ status: "completed" });
      const ids = createdIn(known).map(({ threadId }) => threadId);
      expect(new Set(ids).size, where).toBe(4);
    }
  });

  test("what sub-agents had spent counts from the first request on", async () => {
    const done = tool("work", async () => "1");
    const first = threadStore();
    await grow(model, first, { tools: [done] });
    const requests = [...first.known.values()].flat().filter(({ record }) => record.type === "model.replied").length;
    // Cut off in the last step of the main thread: all the others have long been paid for.
    const main = first.known.get("main") ?? [];
    first.known.set(
      "main",
      main.slice(
        0,
        main.findLastIndex(({ record }) => record.type === "model.replied"),
      ),
    );
    const resumed = await grow(model, threadStore(first.known), {
      tools: [done],
      turn: { budget: { turns: requests - 1 } },
    });
    expect(resumed.end).toMatchObject({ status: "failed", code: "budget" });
    expect(resumed.requests).toHaveLength(0);
  });

  test("those of a log that names them only in results are known too", async () => {
    const { known } = threadStore();
    const first = threadStore(known);
    const tools = [tool("work", async () => "1")];
    await grow(model, first, { tools });
    for (const [id, records] of known)
      known.set(
        id,
        records.map(({ record, ...rest }) => {
          if (record.type !== "tool.begun") return { ...rest, record };
          const { makes: _, ...older } = record;
          return { ...rest, record: older };
        }),
      );
    const { end } = await grow(
      acting({ main: [...Array(7).fill(() => says("?")), () => replies([wait("explorer")]), echo] }),
      threadStore(known),
      { tools },
    );
    expect(end).toMatchObject({ message: expect.stringContaining("Right.") });
  });

  test("sub-agents of a turn that is given up are stopped, known, and paid by the turn that was theirs", async () => {
    const idle: Script = {
      main: [() => replies([spawn("busy")]), () => replies([calls("work", {})])],
      busy: [() => replies([calls("busy", {})])],
    };
    const dying = threadStore();
    const never = tool("work", () => new Promise(() => {}));
    void grow(acting(idle), dying, { tools: [busy, never] });
    const isBusy = () =>
      [...dying.known.values()].flat().filter(({ record }) => record.type === "tool.begun").length === 3;
    while (!isBusy()) await new Promise((resolve) => setImmediate(resolve));
    const known: Threads = new Map([...dying.known].map(([id, records]) => [id, [...records]]));
    const main = known.get("main") ?? [];
    const seq = main.length + 1;
    const end = { status: "cancelled" as const, reason: "another prompt" };
    main.push({ seq, at: "", record: { type: "turn.ended", turnId: "any", end } });
    const script: Script = {
      main: [() => says("?"), () => says("?"), () => replies([wait("default")]), echo],
    };
    const { end: after, requests } = await grow(acting(script), threadStore(known), { turn: { budget: { turns: 4 } } });
    expect(after).toMatchObject({ status: "completed", message: expect.stringContaining("interrupted") });
    expect(requests).toHaveLength(2);
    expect(endsOf(known)[1]).toMatchObject({ status: "cancelled", reason: "Its parent has ended." });
  });
});
