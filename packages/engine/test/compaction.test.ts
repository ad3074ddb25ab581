import type { ExecRequest, ExecResult } from "@agentcli/protocol";
import { describe, expect, test } from "vitest";
import {
  builtInTools,
  type Dependencies,
  drive,
  type ModelRequest,
  openLog,
  readThread,
  requestUserInput,
} from "../src/index.ts";
import { estimateMessage, estimateText } from "../src/state/tokens.ts";
import { calls, openHarness, replies, textReply } from "./thread-harness.ts";

const never = new AbortController().signal;
const noWorkspace = {
  incarnation: "none",
  root: "/project",
  release: async () => {},
} as unknown as Dependencies["workspace"];
const long = "many words ".repeat(200);
const isCompaction = (request: ModelRequest) => request.toolChoice === "none";

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

/** A workspace in which every command keeps running until it is killed, and every patch applies. */
const busyWorkspace = {
  ...noWorkspace,
  async exec({ signal }: ExecRequest): Promise<ExecResult> {
    if (signal !== "SIGKILL") return { state: "running", seq: 1 };
    return { state: "exited", seq: 2, exitCode: 137, durationMs: 1, timedOut: false, droppedBytes: 0 };
  },
} as unknown as Dependencies["workspace"];

const plan = { plan: [{ step: "Port the parser", status: "in_progress" }] };
const textsOf = (request: ModelRequest | undefined) => JSON.stringify(request?.messages);

test("after a compaction and a resume the plan, the running commands and the open questions are stated, from the log", async () => {
  const script = [
    replies([
      calls("update_plan", plan),
      calls("exec_command", { cmd: "npm run watch" }),
      calls("request_user_input", { questions: [{ id: "a", header: "A", question: "Which port?", options: [] }] }),
    ]),
    replies([calls("exec_command", { cmd: `echo ${long.repeat(20)}` })]),
    textReply("A forgetful summary."),
    textReply("Finished."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), busyWorkspace, {
    tools: [...builtInTools, requestUserInput],
  });
  await thread.begin("the task", { compactAt: 12_000 });
  await drive(thread.log, thread.dependencies, never);
  const last = textsOf(thread.requests.at(-1));
  for (const fact of [
    "A forgetful summary.",
    "[in_progress] Port the parser",
    "session 3001: npm run watch",
    "Which port?",
  ])
    expect(last).toContain(fact);
  const { state } = await readThread(thread.store, "thread");
  expect(openLog(state, { store: thread.store, emit() {} }).state.messages).toEqual(thread.log.state.messages);
});

test("the request for a summary begins with the bytes of the one before, and has its tools", async () => {
  const script = [
    replies([calls("exec_command", { cmd: `echo ${"x".repeat(20_000)}` })]),
    textReply("Short."),
    textReply("Finished."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), busyWorkspace);
  await thread.begin("the task", { compactAt: thread.log.state.tokens + 5_000 });
  await drive(thread.log, thread.dependencies, never);
  const [before, summary, after] = thread.requests;
  expect(summary?.toolChoice).toBe("none");
  for (const request of [summary, after]) {
    expect(JSON.stringify(request?.tools)).toBe(JSON.stringify(before?.tools));
    expect(request?.instructions).toBe(before?.instructions);
  }
  expect(summary?.messages.slice(0, before?.messages.length)).toEqual(before?.messages);
});

test("a model that answers with calls instead of a summary is asked again without tools", async () => {
  const script = [
    replies([calls("exec_command", { cmd: `echo ${"x".repeat(40_000)}` })]),
    replies([calls("exec_command", { cmd: "true" })]),
    textReply("Short."),
    textReply("Finished."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), busyWorkspace);
  await thread.begin("the task", { compactAt: 8_000 });
  expect((await drive(thread.log, thread.dependencies, never)).end).toMatchObject({ status: "completed" });
  expect(thread.requests[2]?.tools).toEqual([]);
});

test("running commands are listed and killed by their session", async () => {
  const script = [
    replies([calls("exec_command", { cmd: "npm run watch" })]),
    replies([calls("list_sessions", {})]),
    replies([calls("kill_session", { session_id: 3_000 })]),
    replies([calls("list_sessions", {}, "again"), calls("kill_session", { session_id: 3_000 })]),
    textReply("Finished."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), busyWorkspace);
  await thread.begin("the task");
  await drive(thread.log, thread.dependencies, never);
  const outputs = thread.log.state.messages.flatMap((message) => (message.role === "tool" ? message.parts : []));
  const texts = outputs.map((part) => (part.type === "text" ? part.text : ""));
  expect(JSON.parse(texts[1] ?? "")).toEqual({
    sessions: [{ session_id: 3_000, command: "npm run watch", state: "running" }],
  });
  expect(texts[2]).toContain("Process exited with code 137");
  expect(JSON.parse(texts[3] ?? "")).toEqual({ sessions: [] });
  expect(texts[4]).toContain("There is no running command with session id 3000");
});
