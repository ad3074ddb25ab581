import { describe, expect, test } from "vitest";
import { type Dependencies, drive, type ModelRequest } from "../src/index.ts";
import { estimateMessage, estimateText } from "../src/state/tokens.ts";
import { calls, openHarness, replies, textReply } from "./thread-harness.ts";

const never = new AbortController().signal;
const noWorkspace = {
  incarnation: "none",
  root: "/project",
  release: async () => {},
} as unknown as Dependencies["workspace"];
const long = "many words ".repeat(200);
const isCompaction = (request: ModelRequest) => request.tools.length === 0;

const sizeOf = (request: ModelRequest) =>
  estimateText(request.instructions) +
  estimateText(JSON.stringify(request.tools)) +
  request.messages.reduce((total, message) => total + estimateMessage(message), 0);

describe("a conversation of 200 turns", () => {
  test.each([
    ["counted by us", 0],
    ["counted by the provider", 1],
  ])("is compacted and goes on, every request within the window, %s", async (_, counted) => {
    const window = 12_000;
    const thread = await openHarness(
      (request) => textReply(isCompaction(request) ? "Summary so far." : `Yes. ${long}`, counted * sizeOf(request)),
      noWorkspace,
    );
    for (let turn = 0; turn < 200; turn += 1) {
      await thread.begin(`prompt ${turn} ${long}`, { compactAt: window * 0.9 });
      expect((await drive(thread.log, thread.dependencies, never)).end?.status).toBe("completed");
    }
    expect(thread.types().filter((type) => type === "context.compacted").length).toBeGreaterThan(10);
    for (const request of thread.requests) expect(sizeOf(request)).toBeLessThan(window);
    expect(JSON.stringify(thread.requests.at(-1)?.messages)).toContain("prompt 199");
    expect(JSON.stringify(thread.requests.at(-1)?.messages)).toContain("Summary so far.");
  });
});

test("a request that is too long for the model is compacted and sent again", async () => {
  let tooLong = 1;
  const thread = await openHarness((request) => {
    if (isCompaction(request)) return textReply("Short.");
    if (request.messages.length > 4 && tooLong-- > 0)
      return { kind: "fault", fault: { code: "context_window", message: "too long" } };
    return textReply("Fine.");
  }, noWorkspace);
  for (const prompt of ["one", "two"]) {
    await thread.begin(prompt);
    await drive(thread.log, thread.dependencies, never);
  }
  expect(thread.types().filter((type) => type === "context.compacted")).toHaveLength(1);
  expect(thread.log.state.end).toEqual({ status: "completed", message: "Fine." });
});

test("where nothing can be compacted the turn fails with the reason", async () => {
  const thread = await openHarness(
    () => ({ kind: "fault", fault: { code: "context_window", message: "too long" } }),
    noWorkspace,
  );
  await thread.begin("huge");
  expect((await drive(thread.log, thread.dependencies, never)).end).toMatchObject({
    status: "failed",
    code: "context_window",
  });
});

test("compaction in the middle of a turn keeps the prompt and continues", async () => {
  const script = [
    replies([calls("update_plan", { plan: [{ step: long.repeat(20), status: "pending" }] })]),
    textReply("Planned so far."),
    textReply("Finished."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), noWorkspace);
  await thread.begin("the task at hand", { compactAt: 6_000 });
  expect((await drive(thread.log, thread.dependencies, never)).end).toEqual({
    status: "completed",
    message: "Finished.",
  });
  expect(JSON.stringify(thread.requests[2]?.messages)).toContain("the task at hand");
  expect(JSON.stringify(thread.requests[2]?.messages)).toContain("Planned so far.");
});
