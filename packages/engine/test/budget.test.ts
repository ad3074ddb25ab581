import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ledger } from "../src/budget/ledger.ts";
import { builtInTools, type Dependencies, drive, type ModelRequest, openLog, readThread } from "../src/index.ts";
import { estimateMessage, estimateText } from "../src/state/tokens.ts";
import {
  calls,
  memoryStore,
  openHarness,
  replies,
  settings,
  type ThreadHarness,
  textReply,
  usage,
} from "./thread-harness.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 100) };
const never = new AbortController().signal;
const noWorkspace = {
  incarnation: "none",
  root: "/project",
  release: async () => {},
} as unknown as Dependencies["workspace"];
const look = (size = 10, status = "pending") => calls("update_plan", { plan: [{ step: "x".repeat(size), status }] });

const sizeOf = (request: ModelRequest) =>
  estimateText(request.instructions) +
  estimateText(JSON.stringify(request.tools)) +
  request.messages.reduce((total, message) => total + estimateMessage(message), 0);

const isWrapUp = (request: ModelRequest) => request.tools.length === 0;

async function endless(
  budget: { tokens?: number; turns?: number; tools?: number; usd?: number },
  sizes: number[] = [10],
) {
  const thread = await openHarness((request, number) => {
    if (isWrapUp(request)) return textReply("Wrapped up.", sizeOf(request));
    // Never the same call twice in a row: that would end the turn too.
    return replies([look(sizes[number % sizes.length], number % 2 ? "pending" : "completed")], sizeOf(request));
  }, noWorkspace);
  await thread.begin("never stop", { budget });
  await drive(thread.log, thread.dependencies, never);
  return thread;
}

describe("an endless loop of tool calls", () => {
  test("under turns makes exactly that many requests, the last of them the wrap-up", async () => {
    const thread = await endless({ turns: 4 });
    expect(thread.requests).toHaveLength(4);
    expect(thread.requests.map(isWrapUp)).toEqual([false, false, false, true]);
    expect(thread.log.state.end).toMatchObject({ status: "failed", code: "budget", limit: "turns" });
  });

  test("under tools makes exactly that many calls", async () => {
    const thread = await endless({ tools: 3 });
    expect(thread.types().filter((type) => type === "tool.begun")).toHaveLength(3);
    expect(thread.requests.at(-1)?.tools).toEqual([]);
    expect(thread.log.state.end).toMatchObject({ code: "budget", limit: "tools" });
  });

  test("that come in one reply stays within tools as well, and the rest is declined", async () => {
    const thread = await openHarness(
      (request) => (isWrapUp(request) ? textReply("Wrapped up.") : replies([look(), look(), look(), look()])),
      noWorkspace,
      { tools: builtInTools.map((tool) => ({ ...tool, parallel: true })) },
    );
    await thread.begin("four at once", { budget: { tools: 2 } });
    await drive(thread.log, thread.dependencies, never);
    expect(thread.types().filter((type) => type === "tool.begun")).toHaveLength(2);
    expect(settledStatuses(thread)).toEqual(["completed", "completed", "declined", "declined"]);
  });

  test("of which one request is allowed gets that one and no wrap-up", async () => {
    const thread = await endless({ turns: 1 });
    expect(thread.requests).toHaveLength(1);
    expect(thread.log.state.end).toMatchObject({ code: "budget" });
  });
});

describe("an interrupted wrap-up", () => {
  test.each([
    ["before its reply was kept is asked for again", "noted"],
    ["after its reply was kept is not taken for an answer", "model.replied"],
  ] as const)("%s, and the turn ends for want of budget", async (_, last) => {
    const thread = await resumed(await endless({ turns: 3 }), last);
    const before = thread.requests.length;
    const { end } = await drive(thread.log, thread.dependencies, never);
    expect(end).toMatchObject({ status: "failed", code: "budget", limit: "turns" });
    expect(thread.requests.slice(before).map(isWrapUp)).toEqual(last === "noted" ? [true] : []);
  });

  test("continues with its work when the budget has been raised", async () => {
    const thread = await resumed(await endless({ turns: 3 }), "noted");
    const raised = { ...settings, budget: { turns: 5 } };
    await thread.log.write({ type: "noted", kind: "policy", data: { settings: raised } });
    const before = thread.requests.length;
    expect((await drive(thread.log, thread.dependencies, never)).end).toMatchObject({ code: "budget" });
    expect(thread.requests.slice(before).map(isWrapUp)).toEqual([false, false, true]);
  });
});

/** Another process resumes the thread after the last record of this type. */
async function resumed(thread: ThreadHarness, last: "noted" | "model.replied"): Promise<ThreadHarness> {
  const store = memoryStore();
  const end = thread.store.records.findLastIndex(({ record }) => record.type === last) + 1;
  store.records.push(...thread.store.records.slice(0, end));
  const { state } = await readThread(store, "thread");
  return { ...thread, store, log: openLog(state, { store, emit() {} }) };
}

const settledStatuses = ({ store }: ThreadHarness): string[] =>
  store.records.flatMap(({ record }) => (record.type === "tool.settled" ? [record.outcome.status] : []));

test("a turn within its budget is not affected by it", async () => {
  const thread = await openHarness(
    (_, number) => (number === 0 ? replies([look()], 100) : textReply("Done.", 100)),
    noWorkspace,
  );
  await thread.begin("two requests", { budget: { turns: 3, tokens: 10_000, tools: 5, usd: 1 } });
  expect((await drive(thread.log, thread.dependencies, never)).end).toEqual({ status: "completed", message: "Done." });
});

test("spent passes the limit by one estimation error at most, and the wrap-up is always paid for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4_000, max: 60_000 }),
      fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 5 }),
      async (tokens, sizes) => {
        const thread = await endless({ tokens }, sizes);
        const spent = thread.requests.reduce((total, request) => total + sizeOf(request) + 1, 0);
        // The first request is made without an estimate; later ones err by what a reply adds to the conversation.
        const firstAlone = sizeOf(thread.requests[0] as ModelRequest) + 1;
        expect(spent).toBeLessThanOrEqual(Math.max(tokens, firstAlone) + thread.requests.length);
        expect(thread.log.state.end).toMatchObject({ code: "budget", limit: "tokens" });
        if (firstAlone * 2 < tokens) expect(thread.requests.filter(isWrapUp)).toHaveLength(1);
      },
    ),
    runs,
  );
});

test("a budget can be in USD", async () => {
  const thread = await endless({ usd: 0.02 });
  const costs = thread.store.records.map(({ record }) => (record.type === "model.replied" ? (record.costUsd ?? 0) : 0));
  expect(costs.reduce((total, cost) => total + cost, 0)).toBeLessThanOrEqual(0.02);
  expect(thread.log.state.end).toMatchObject({ code: "budget", limit: "usd" });
});

describe("a thread that is stopped", () => {
  test("before its request is sent leaves the budget to the other agents of its run", async () => {
    const stop = new AbortController();
    const reservations = new Map<string, Ledger>();
    const thread = await openHarness(() => replies([look()]), noWorkspace);
    const repository = {
      async textsFor() {
        stop.abort();
        return { texts: [{ source: "AGENTS.md", text: "Mind the sub." }], warnings: [] };
      },
    };
    await thread.begin("stopped while instructions are read", { budget: { turns: 3 } });
    await readOneFile(thread);
    await drive(thread.log, { ...thread.dependencies, repository, reservations }, stop.signal);
    expect(thread.requests).toHaveLength(0);
    expect(thread.log.state.end).toMatchObject({ status: "cancelled" });
    expect(reservations.size).toBe(0);
  });

  test("while its request is under way keeps what the request may have cost", async () => {
    const stop = new AbortController();
    const reservations = new Map<string, Ledger>();
    const thread = await openHarness(() => {
      stop.abort();
      return { kind: "fault", fault: { code: "network", message: "aborted" } };
    }, noWorkspace);
    await thread.begin("stopped in a request", { budget: { turns: 3 } });
    await drive(thread.log, { ...thread.dependencies, reservations }, stop.signal);
    expect([...reservations.values()]).toMatchObject([{ requests: 1 }]);
  });
});

async function readOneFile({ log }: ThreadHarness): Promise<void> {
  const call = calls("read_file", { path: "sub/a.txt" });
  await log.write({ type: "model.replied", blocks: [call], usage: usage(), model: "scripted" });
  const callId = `${log.state.seq}.0`;
  await log.write(
    { type: "tool.begun", callId, name: "read_file", args: { path: "sub/a.txt" }, incarnation: "i", onResume: "rerun" },
    { type: "tool.settled", callId, outcome: { status: "completed", parts: [], detail: { kind: "none" } } },
  );
}
