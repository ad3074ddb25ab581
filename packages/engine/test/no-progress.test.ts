import type { ExecResult } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { type Dependencies, drive, openLog, readThread } from "../src/index.ts";
import { calls, memoryStore, openHarness, replies, textReply } from "./thread-harness.ts";

const never = new AbortController().signal;
const workspaceWith = (exec: () => Promise<ExecResult>) =>
  ({ incarnation: "none", root: "/project", release: async () => {}, exec }) as unknown as Dependencies["workspace"];
const noWorkspace = workspaceWith(async () => ({ state: "not-started", message: "no" }) as ExecResult);

const plan = (step: string) => calls("update_plan", { plan: [{ step, status: "pending" }] });

async function runScript(script: (number: number) => ReturnType<typeof replies>, workspace = noWorkspace) {
  const thread = await openHarness((_, number) => script(number), workspace);
  await thread.begin("work");
  await drive(thread.log, thread.dependencies, never);
  return thread;
}

test.each([
  ["identical calls", () => plan("the same")],
  ["rejected calls of unknown tools", (number: number) => calls(`unknown_${number}`, { number })],
  ["calls with invalid arguments", (number: number) => calls("update_plan", { plan: number })],
  ["calls that the policy declines", (number: number) => escalated(number)],
])("20 %s in a row end the turn with a code of their own", async (_, call) => {
  const { requests, log } = await runScript((number) => replies([call(number)]));
  expect(requests).toHaveLength(20);
  expect(log.state.end).toMatchObject({
    status: "failed",
    code: "no_progress",
    message: expect.stringContaining("The last 20 tool calls were rejected or repeated"),
  });
});

const escalated = (number: number) =>
  calls("exec_command", { cmd: `echo ${number}`, sandbox_permissions: "require_escalated" });

test("hundreds of identical calls in one reply run, and the next that repeats them ends the turn", async () => {
  const thread = await runScript(() => replies(Array.from({ length: 200 }, () => plan("the same"))));
  expect(thread.requests).toHaveLength(2);
  expect(thread.log.state.end).toMatchObject({ code: "no_progress" });
  expect(thread.types().filter((type) => type === "tool.begun")).toHaveLength(201);
});

test("a call that leads somewhere starts the count again", async () => {
  const { log } = await runScript((number) => {
    if (number === 60) return textReply("Done.");
    return replies([number % 20 === 19 ? plan(`step ${number}`) : calls("unknown", { number })]);
  });
  expect(log.state.end).toEqual({ status: "completed", message: "Done." });
});

test("waiting for a process that still runs does not count", async () => {
  const running = workspaceWith(async () => ({ state: "running", seq: 1 }) as ExecResult);
  const { log } = await runScript((number) => {
    if (number === 0) return replies([calls("exec_command", { cmd: "make" })]);
    // The session id is derived from the record of the reply: the third of the log, its first call.
    return number === 50 ? textReply("Built.") : replies([calls("write_stdin", { session_id: 3_000, chars: "" })]);
  }, running);
  expect([...log.state.messages].filter(({ role }) => role === "tool")).toHaveLength(50);
  expect(log.state.end).toEqual({ status: "completed", message: "Built." });
});

test("a resumed turn goes on counting", async () => {
  const thread = await runScript(() => replies([plan("the same")]));
  const store = memoryStore();
  const settled = thread.store.records.filter(({ record }) => record.type === "tool.settled").slice(0, 15);
  store.records.push(...thread.store.records.slice(0, settled.at(-1)?.seq));
  const { state } = await readThread(store, "thread");
  const log = openLog(state, { store, emit() {} });
  expect((await drive(log, thread.dependencies, never)).end).toMatchObject({ code: "no_progress" });
  expect(thread.requests).toHaveLength(25);
});
