// Contract: replies, and the headers of requests.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openHarness, secretKey, textOf, type WireName } from "../harness.ts";

const patchTool = {
  form: "freeform",
  name: "apply_patch",
  description: "Change files",
  grammar: { syntax: "lark", definition: "start: /.+/" },
} as const;

const bearer = { authorization: `Bearer ${secretKey}` };
const keyHeader: Record<WireName, object> = {
  responses: bearer,
  chat: bearer,
  anthropic: { "x-api-key": secretKey, "anthropic-version": "2023-06-01" },
};

export function answers(wire: WireName): void {
  test("text is shown as it arrives and returned complete, with model and usage", async () => {
    const usage = { inputTokens: 1200, cachedInputTokens: 1000, outputTokens: 34, reasoningOutputTokens: 12 };
    const { ask } = await openHarness(wire, [
      replyWith("Hello there, friend", { deltas: 6, usage, model: "gpt-5.4-today" }),
    ]);
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({
      kind: "replied",
      blocks: [{ type: "message", text: "Hello there, friend" }],
      usage: { ...usage, cacheWriteInputTokens: 0 },
      model: "gpt-5.4-today",
    });
    expect(progress.length).toBe(6);
    expect(textOf(progress, "text")).toBe("Hello there, friend");
  });

  test("a tool call is announced early and returned with its arguments as written", async () => {
    const { ask } = await openHarness(wire, [call("exec_command", '{"cmd": "ls" }', { deltas: 4 })]);
    const { reply, progress } = await ask();
    expect(progress).toEqual([{ type: "calling", name: "exec_command" }]);
    expect(reply).toMatchObject({
      blocks: [{ type: "call", wireId: "call_0_0", name: "exec_command", form: "function", input: '{"cmd": "ls" }' }],
    });
  });

  test("a message and several calls keep their order", async () => {
    const { ask } = await openHarness(wire, [
      {
        messages: ["Both at once"],
        deltas: 3,
        calls: [
          { name: "read_file", arguments: { path: "a" } },
          { name: "list_dir", arguments: { path: "b" }, callId: "call_x" },
          { name: "read_file", arguments: "not json" },
        ],
      },
    ]);
    const { reply } = await ask();
    expect(reply).toMatchObject({
      blocks: [
        { type: "message", text: "Both at once" },
        { type: "call", wireId: "call_0_0", name: "read_file", input: '{"path":"a"}' },
        { type: "call", wireId: "call_x", name: "list_dir", input: '{"path":"b"}' },
        { type: "call", wireId: "call_0_2", name: "read_file", input: "not json" },
      ],
    });
  });

  test("an empty message alone is the message of the reply", async () => {
    const { ask } = await openHarness(wire, [{ messages: [""] }]);
    expect((await ask()).reply).toMatchObject({ kind: "replied", blocks: [{ type: "message", text: "" }] });
  });

  test("a freeform call has the text that the model wrote", async () => {
    const patch = '*** Begin Patch\n*** Add File: "a"\n+1\n*** End Patch';
    const { ask } = await openHarness(wire, [
      { calls: [{ name: "apply_patch", arguments: patch, freeform: true }], deltas: 5 },
    ]);
    const { reply } = await ask({ tools: [patchTool] });
    expect(reply).toMatchObject({ blocks: [{ type: "call", name: "apply_patch", form: "freeform", input: patch }] });
  });

  test("characters that are split between chunks are joined", async () => {
    const text = "Grüße, 世界 👩‍🚀 and \u2028 more";
    const { ask } = await openHarness(wire, [replyWith(text, { deltas: 9, chunkBytes: 1 })]);
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({ blocks: [{ type: "message", text }] });
    expect(textOf(progress, "text")).toBe(text);
  });

  test("slow tokens do not time out, even if the response takes longer than the idle timeout", async () => {
    const { ask } = await openHarness(wire, [replyWith("slow but steady", { deltas: 15, deltaDelayMs: 220 })], {
      idleMs: 3_000,
    });
    expect((await ask()).reply).toMatchObject({ kind: "replied", blocks: [{ text: "slow but steady" }] });
  });

  test("two megabytes in 65,536 deltas arrive complete", async () => {
    const { ask } = await openHarness(wire, [{ text: { bytes: 2_000_000, deltas: 65_536 } }]);
    const { reply, progress } = await ask();
    expect(progress).toHaveLength(65_536);
    const text = textOf(progress, "text");
    expect(text).toHaveLength(2_000_000);
    expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "message", text }] });
  });

  test("a response without usage has zero usage", async () => {
    const { ask } = await openHarness(wire, [replyWith("hi", { usage: null })]);
    expect((await ask()).reply).toMatchObject({ kind: "replied", usage: { inputTokens: 0, outputTokens: 0 } });
  });

  test("each request has the client, the key and the thread in its headers", async () => {
    const { ask, requests } = await openHarness(wire, [replyWith("hi")], {
      headers: { "X-Team": "blue", Originator: "mine" },
      query: { "api-version": "1 2" },
    });
    await ask();
    expect(requests()[0]?.path).toMatch(/\?api-version=1(\+|%20)2$/);
    expect(requests()[0]?.headers).toMatchObject({
      accept: "text/event-stream",
      "content-type": "application/json",
      ...keyHeader[wire],
      originator: "mine",
      "x-team": "blue",
      "user-agent": `agentcli/1.2.3 (${process.platform}; ${process.arch})`,
      "session-id": "thread-1",
      "thread-id": "thread-1",
    });
  });

  test("without a key no authorization is sent", async () => {
    const { ask, requests } = await openHarness(wire, [replyWith("hi")], { apiKey: undefined });
    await ask();
    for (const header of ["authorization", "x-api-key"]) expect(requests()[0]?.headers).not.toHaveProperty(header);
    expect(requests()[0]?.headers.originator).toBe("agent_exec");
  });

  test("the same request gives the same bytes", async () => {
    const { ask, requests } = await openHarness(wire, { replies: [replyWith("hi")], repeat: "last" });
    await ask();
    await ask();
    expect(JSON.stringify(requests()[0]?.body)).toBe(JSON.stringify(requests()[1]?.body));
  });
}
