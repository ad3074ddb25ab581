import type { Block, Workspace } from "@agentcli/protocol";
import { describe, expect, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { type Answer, drive, openLog, readThread } from "../src/index.ts";
import { calls, openHarness, replies, textReply } from "./thread-harness.ts";

const never = new AbortController().signal;
const unusedWorkspace = {} as Workspace;

const wantsYes: Answer = {
  check: async (message) =>
    message.includes("yes")
      ? { ok: true, message: message.trim() }
      : { ok: false, problem: `"${message}" has no yes in it` },
};

const begun = async (script: string[], answer: Answer | undefined = wantsYes) => {
  const thread = await openHarness((_, number) => textReply(script[number] ?? "?"), unusedWorkspace);
  await thread.begin("say yes");
  return { ...thread, dependencies: { ...thread.dependencies, finalMessageCheck: answer } };
};

describe("a final message that must satisfy something", () => {
  test("completes with the text that the check returns", async () => {
    const { log, dependencies, requests } = await begun([" yes "]);
    expect((await drive(log, dependencies, never)).end).toEqual({ status: "completed", message: "yes" });
    expect(requests).toHaveLength(1);
  });

  test("is sent back once with exactly what is wrong", async () => {
    const { log, dependencies, requests, types } = await begun(["no", "yes"]);
    expect((await drive(log, dependencies, never)).end).toEqual({ status: "completed", message: "yes" });
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain('\\"no\\" has no yes in it');
    expect(types().filter((type) => type === "input.added")).toHaveLength(1);
  });

  test("fails the turn when it is wrong a second time", async () => {
    const { log, dependencies, requests } = await begun(["no", "never"]);
    const { end } = await drive(log, dependencies, never);
    expect(end).toMatchObject({
      status: "failed",
      code: "schema",
      message: expect.stringContaining('"never" has no yes'),
    });
    expect(requests).toHaveLength(2);
  });

  test("may be repaired once in every turn", async () => {
    const { log, dependencies, begin } = await begun(["no", "yes", "no", "yes"]);
    await drive(log, dependencies, never);
    await begin("again");
    expect((await drive(log, dependencies, never)).end).toEqual({ status: "completed", message: "yes" });
  });

  test("is not repaired again when the turn is resumed after the repair was requested", async () => {
    const { log, dependencies, store } = await begun(["no"]);
    const stopping = new AbortController();
    const stopAtRepair = openLog(log.state, {
      store,
      emit: ({ record }) => {
        if (record.type === "input.added") stopping.abort(new Error("the power is cut"));
      },
    });
    const cut = { ...dependencies, workspace: { release: async () => {} } as unknown as Workspace };
    await drive(stopAtRepair, cut, stopping.signal);
    store.records.pop();
    const { state } = await readThread(store, "thread");
    expect(state.turn?.repaired).toBe(true);
    const resumed = openLog(state, { store, emit: () => {} });
    const stubborn = { ...dependencies, model: { reply: async () => textReply("still no") } };
    expect((await drive(resumed, stubborn, never)).end).toMatchObject({ status: "failed", code: "schema" });
  });

  test("is not taken from text that accompanies calls", async () => {
    const checked: string[] = [];
    const answer: Answer = {
      async check(message) {
        checked.push(message);
        return { ok: true, message };
      },
    };
    const plan = calls("update_plan", { plan: [{ step: "look", status: "completed" }] });
    const script = [replies([{ type: "message", text: "Looking." }, plan]), textReply("yes")];
    const thread = await openHarness((_, number) => script[number] ?? textReply("?"), unusedWorkspace);
    await thread.begin("say yes");
    await drive(thread.log, { ...thread.dependencies, finalMessageCheck: answer }, never);
    expect(checked).toEqual(["yes"]);
  });

  test("shows the repair as a warning, both messages as the model wrote them, and the text that the check returns", async () => {
    const { log, dependencies, store } = await begun(["no", " yes "]);
    await drive(log, dependencies, never);
    const project = execEvents();
    const items = store.records.flatMap((stored) => project(stored)).filter((event) => event.type === "item.completed");
    expect(items.map(({ item }) => item)).toMatchObject([
      { type: "agent_message", text: "no" },
      { type: "error" },
      { type: "agent_message", text: " yes " },
      { type: "agent_message", text: "yes" },
    ]);
  });
});

describe("the events of a review", () => {
  test("show the text of the end in place of the findings", async () => {
    const { log, dependencies, store } = await begun(["{}"], {
      check: async () => ({ ok: true, message: "All good." }),
    });
    await drive(log, dependencies, never);
    const asReview = store.records.map((stored) =>
      stored.record.type === "turn.begun"
        ? { ...stored, record: { ...stored.record, review: { coverage: null } } }
        : stored,
    );
    const project = execEvents();
    const events = asReview.flatMap((stored) => project(stored));
    expect(events.filter((event) => event.type === "item.completed")).toMatchObject([
      { item: { type: "agent_message", text: "All good." } },
    ]);
    expect(events.at(-1)?.type).toBe("turn.completed");
  });
});

describe("the answer among the messages of a reply", () => {
  const commentary = (text: string): Block => ({ type: "message", text, phase: "commentary" });
  const answer = (text: string): Block => ({ type: "message", text, phase: "final_answer" });
  const plain = (text: string): Block => ({ type: "message", text });
  const noAnswer = { status: "failed", code: "empty" };
  const answered = (message: string) => ({ status: "completed", message });

  test.each<[name: string, blocks: Block[], end: object]>([
    ["is the last one of phase final_answer", [answer("Done."), commentary("Bye.")], answered("Done.")],
    ["is the last one without a phase", [commentary("Hm."), plain("One."), plain("Two.")], answered("Two.")],
    ["is empty when the last message is", [plain("First."), plain("")], answered("")],
    ["is not commentary", [commentary("Looking.")], noAnswer],
    ["is empty when the only message is", [plain("")], answered("")],
  ])("%s", async (_, blocks, end) => {
    const reply = { ...textReply(""), blocks };
    const { log, dependencies, begin } = await openHarness(() => reply, unusedWorkspace);
    await begin("go");
    expect((await drive(log, dependencies, never)).end).toMatchObject(end);
  });
});
