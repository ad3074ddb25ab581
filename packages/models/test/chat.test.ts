import { garbage, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { everything } from "./everything.ts";
import { openHarness, textOf } from "./harness.ts";

const chunks = (...lines: object[]) => garbage(lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join(""));
const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ delta: fields, finish_reason }],
});

test("a full request has the format of the wire", async () => {
  const { ask, requests } = await openHarness("chat", [replyWith("ok")]);
  await ask(everything);
  expect(requests()[0]?.path).toBe("/v1/chat/completions");
  expect(requests()[0]?.body).toEqual({
    model: "gpt-5.4",
    messages: [
      { role: "system", content: "Be brief.\n\nRules" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "text", text: "Image shot.png:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } },
        ],
      },
      {
        role: "assistant",
        content: "Looking",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "view_image", arguments: '{"path":"a.png"}' } },
          {
            id: "call_2",
            type: "function",
            function: { name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "The image follows." },
      { role: "tool", tool_call_id: "call_2", content: "done\ntwice" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
      { role: "user", content: "More rules" },
      { role: "user", content: "And?" },
    ],
    tools: [
      { type: "function", function: { name: "exec_command", description: "Run", parameters: { type: "object" } } },
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: "Patch\n\nThe input follows this lark grammar:\nstart: x",
          parameters: {
            type: "object",
            properties: { input: { type: "string" } },
            required: ["input"],
            additionalProperties: false,
          },
        },
      },
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning_effort: "high",
    verbosity: "low",
    response_format: {
      type: "json_schema",
      json_schema: { name: "agent_output_schema", strict: true, schema: { type: "object" } },
    },
    max_completion_tokens: 900,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("a minimal request has no optional members", async () => {
  const { ask, requests } = await openHarness("chat", [replyWith("ok")]);
  await ask({ model: "llama", maxOutputTokens: 5 });
  expect(requests()[0]?.body).toEqual({
    model: "llama",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    max_tokens: 5,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test.each(["reasoning_content", "reasoning"])("reasoning in %s is shown and part of the reply", async (field) => {
  const { ask } = await openHarness("chat", [
    chunks(delta({ [field]: "Let me " }), delta({ [field]: "think" }), delta({ content: "42" }, "stop")),
  ]);
  const { reply, progress } = await ask();
  expect(textOf(progress, "reasoning")).toBe("Let me think");
  expect(reply).toMatchObject({
    blocks: [
      { type: "reasoning", summary: [], text: "Let me think" },
      { type: "message", text: "42" },
    ],
  });
});

test("calls without ids and indexes get generated ids", async () => {
  const { ask } = await openHarness("chat", [
    chunks(
      delta({
        tool_calls: [
          { function: { name: "a", arguments: '{"x":1}' } },
          { function: { name: "b", arguments: { y: 2 } } },
        ],
      }),
      delta({}, "tool_calls"),
    ),
  ]);
  expect((await ask()).reply).toMatchObject({
    usage: { inputTokens: 0 },
    blocks: [
      { type: "call", wireId: "call_1_0", name: "a", input: '{"x":1}' },
      { type: "call", wireId: "call_1_1", name: "b", input: '{"y":2}' },
    ],
  });
});

test("calls with the same index are separated by their ids", async () => {
  const piece = (id: string, args: string) => ({ index: 0, id, function: { name: "a", arguments: args } });
  const { ask } = await openHarness("chat", [
    chunks(
      delta({ tool_calls: [piece("one", "{")] }),
      delta({ tool_calls: [piece("one", "}")] }),
      delta({ tool_calls: [piece("two", "{}")] }, "stop"),
    ),
  ]);
  expect((await ask()).reply).toMatchObject({
    blocks: [
      { wireId: "one", input: "{}" },
      { wireId: "two", input: "{}" },
    ],
  });
});

test("interleaved pieces of parallel calls find their call by index", async () => {
  const piece = (index: number, fields: object) => ({ index, ...fields });
  const { ask } = await openHarness("chat", [
    chunks(
      delta({
        tool_calls: [piece(0, { id: "p", function: { name: "a" } }), piece(1, { id: "q", function: { name: "b" } })],
      }),
      delta({ tool_calls: [piece(1, { function: { arguments: "[" } }), piece(0, { function: { arguments: "{" } })] }),
      delta(
        { tool_calls: [piece(0, { function: { arguments: "}" } }), piece(1, { function: { arguments: "]" } })] },
        "stop",
      ),
    ),
  ]);
  expect((await ask()).reply).toMatchObject({
    blocks: [
      { wireId: "p", name: "a", input: "{}" },
      { wireId: "q", name: "b", input: "[]" },
    ],
  });
});

test("a finish reason in its own chunk, after the usage and without [DONE], completes the reply", async () => {
  const { ask } = await openHarness("chat", [
    chunks(delta({ content: "hi" }), { choices: [], usage: { prompt_tokens: 7 } }, delta({}, "stop")),
  ]);
  expect((await ask()).reply).toMatchObject({ kind: "replied", usage: { inputTokens: 7 } });
});

test("[DONE] without a finish reason completes the reply", async () => {
  const { ask } = await openHarness("chat", [
    garbage('data:{"choices":[{"delta":{"content":"hi"}}]}\r\n\r\ndata:[DONE]\r\n\r\n'),
  ]);
  expect((await ask()).reply).toMatchObject({ kind: "replied", blocks: [{ text: "hi" }] });
});

test("an error that is only a text is a fault that quotes it", async () => {
  const { ask } = await openHarness("chat", [chunks({ error: "model crashed" })], { streamMaxRetries: 0 });
  expect((await ask()).reply).toMatchObject({
    kind: "fault",
    fault: { code: "stream_cut", message: "Test server ended the response with an error: model crashed." },
  });
});

test.each<[string, object[]]>([
  ["no content at all", [delta({ role: "assistant" }), delta({}, "stop")]],
  ["null as content", [delta({ role: "assistant", content: null }), delta({}, "stop")]],
  [
    "reasoning and an empty text beside it",
    [delta({ role: "assistant", content: "" }), delta({ reasoning_content: "Hm", content: "" }), delta({}, "stop")],
  ],
])("%s does not count as a message", async (_, lines) => {
  const { ask } = await openHarness("chat", [chunks(...lines)]);
  const { reply } = await ask();
  expect(reply.kind === "replied" && reply.blocks.filter(({ type }) => type === "message")).toEqual([]);
});
