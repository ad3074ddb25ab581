import type { ModelRequest } from "@agentcli/engine";
import { garbage, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { everything as common } from "./everything.ts";
import { openHarness, textOf } from "./harness.ts";

const image = { type: "image", url: "data:image/png;base64,AA==", detail: "high", name: "shot.png" } as const;

const everything: Partial<ModelRequest> = {
  ...common,
  reasoningSummary: "auto",
  messages: [
    { role: "developer", parts: [{ type: "text", text: "Rules" }] },
    { role: "user", parts: [{ type: "text", text: "Look" }, image] },
    {
      role: "assistant",
      blocks: [
        { type: "reasoning", summary: ["Hm"], encrypted: "sealed", wireId: "rs_1" },
        { type: "message", text: "Looking", wireId: "msg_1" },
        {
          type: "call",
          wireId: "call_1",
          itemId: "fc_1",
          name: "exec_command",
          form: "function",
          input: '{"cmd":"ls"}',
        },
        { type: "call", wireId: "call_2", name: "apply_patch", form: "freeform", input: "*** Begin Patch" },
      ],
    },
    { role: "tool", wireId: "call_1", form: "function", parts: [{ type: "text", text: "a.txt" }] },
    {
      role: "tool",
      wireId: "call_2",
      form: "freeform",
      parts: [
        { type: "text", text: "done" },
        { ...image, name: undefined },
      ],
    },
  ],
};

test("a full request has the format of the wire", async () => {
  const { ask, requests } = await openHarness("responses", [replyWith("ok")]);
  await ask(everything);
  expect(requests()[0]?.path).toBe("/v1/responses");
  expect(requests()[0]?.body).toEqual({
    model: "gpt-5.4",
    instructions: "Be brief.",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Rules" }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          { type: "input_text", text: "<image name=[Image #1] path=shot.png>" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" },
          { type: "input_text", text: "</image>" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "sealed" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking" }] },
      { type: "function_call", call_id: "call_1", name: "exec_command", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", call_id: "call_2", name: "apply_patch", input: "*** Begin Patch" },
      { type: "function_call_output", call_id: "call_1", output: "a.txt" },
      {
        type: "custom_tool_call_output",
        call_id: "call_2",
        output: [
          { type: "input_text", text: "done" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" },
        ],
      },
    ],
    tools: [
      { type: "function", name: "exec_command", description: "Run", strict: false, parameters: { type: "object" } },
      {
        type: "custom",
        name: "apply_patch",
        description: "Patch",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "high", summary: "auto" },
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "thread-1",
    text: {
      verbosity: "low",
      format: { type: "json_schema", name: "agent_output_schema", strict: true, schema: { type: "object" } },
    },
    max_output_tokens: 900,
    client_metadata: { thread_id: "thread-1", turn_id: "turn-1" },
  });
});

test("a minimal request has no optional members", async () => {
  const { ask, requests } = await openHarness("responses", [replyWith("ok"), replyWith("ok")]);
  await ask({ reasoningSummary: "none" });
  expect(requests()[0]?.body).toMatchObject({ reasoning: {}, text: {}, tools: [] });
  expect(requests()[0]?.body).not.toHaveProperty("max_output_tokens");
  await ask({ model: "gpt-4.1" });
  expect(requests()[1]?.body).toMatchObject({ include: [] });
  expect(requests()[1]?.body).not.toHaveProperty("reasoning");
});

test("reasoning is sent back before the call it led to", async () => {
  const { ask, requests } = await openHarness("responses", [
    {
      reasoning: { summary: ["First", "Second"], encrypted: "sealed" },
      calls: [{ name: "read_file", arguments: { path: "a" } }],
    },
    replyWith("done"),
  ]);
  const { reply, progress, settled } = await ask();
  expect(textOf(progress, "reasoning")).toBe("FirstSecond");
  expect(reply).toMatchObject({ blocks: settled });
  if (reply.kind !== "replied") throw new Error(reply.fault.message);
  await ask({ messages: [{ role: "assistant", blocks: reply.blocks }] });
  expect(requests()[1]?.body).toMatchObject({
    input: [
      { type: "reasoning", id: "rs_0", summary: [{ text: "First" }, { text: "Second" }], encrypted_content: "sealed" },
      { type: "function_call", call_id: "call_0_0", name: "read_file", arguments: '{"path":"a"}' },
    ],
  });
});

test("unencrypted reasoning is sent back as text, and a summary alone is not", async () => {
  const { ask, requests } = await openHarness("responses", [replyWith("ok")]);
  await ask({
    messages: [
      {
        role: "assistant",
        blocks: [
          { type: "reasoning", summary: [], text: "aloud" },
          { type: "reasoning", summary: ["only this"] },
        ],
      },
    ],
  });
  expect(requests()[0]?.body).toMatchObject({
    input: [{ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "aloud" }] }],
  });
});

test("unknown events and items are ignored, and the type may be in the event line only", async () => {
  const { ask } = await openHarness("responses", [
    garbage(
      [
        'event: response.future\ndata: {"type":"response.future","item":{}}',
        "data: 42",
        'data: {"type":"response.output_item.done","item":{"type":"image_generation_call","id":"ig_1"}}',
        'data: {"type":"response.output_item.done","item":{"type":"message","content":[{"type":"refusal","refusal":"No."}]}}',
        'event: response.completed\ndata: {"response":{"usage":null}}',
        "",
      ].join("\n\n"),
    ),
  ]);
  expect((await ask()).reply).toMatchObject({
    kind: "replied",
    blocks: [{ type: "message", text: "No." }],
    model: "gpt-5.4",
  });
});

test("a top-level error event is a fault with the message of the server", async () => {
  const { ask } = await openHarness(
    "responses",
    [garbage('data: {"type":"error","code":"slow_down","message":"Easy now"}\n\n')],
    { requestMaxRetries: 0 },
  );
  expect((await ask()).reply).toMatchObject({
    kind: "fault",
    fault: { code: "overloaded", message: "Test server ended the response with slow_down: Easy now." },
  });
});

test("the phase of a message is read, and sent back with it", async () => {
  const messages = [
    { text: "Looking around.", phase: "commentary" as const },
    { text: "Done.", phase: "final_answer" as const },
    "No phase.",
  ];
  const { ask, requests } = await openHarness("responses", [{ messages }, replyWith("ok")]);
  const { reply } = await ask({});
  const blocks = reply.kind === "replied" ? reply.blocks : [];
  expect(blocks).toMatchObject([
    { type: "message", text: "Looking around.", phase: "commentary" },
    { type: "message", text: "Done.", phase: "final_answer" },
    { type: "message", text: "No phase." },
  ]);
  expect(blocks[2]).not.toHaveProperty("phase");
  await ask({ messages: [{ role: "assistant", blocks }] });
  expect(requests()[1]?.body).toMatchObject({
    input: [{ phase: "commentary" }, { phase: "final_answer" }, { content: [{ text: "No phase." }] }],
  });
});
