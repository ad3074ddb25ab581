// Existing clients of the Responses API work with the platform unchanged.
import { call, fault, freeform, incomplete, replyWith } from "@agentcli/testkit";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

const clientOf = ({ client, fixture }: RunHarness): OpenAI =>
  new OpenAI({ baseURL: `${client.url}/v1/inference`, apiKey: fixture.key, maxRetries: 0 });

test("the stock client reads a response without streaming", async () => {
  const usage = { inputTokens: 3, outputTokens: 4 };
  const harness = await openRunHarness({ replies: [replyWith("Hello there.", { usage })] });
  const response = await clientOf(harness).responses.create({ model: "scripted", input: "Hi", temperature: 0.5 });
  expect(response).toMatchObject({ status: "completed", output_text: "Hello there.", usage: { total_tokens: 7 } });
  expect(harness.requests()[0]?.body).toMatchObject({ temperature: 0.5 });
});

test.each([
  ["a member that is not known", { seed: 7 }, "seed: unknown field"],
  ["stored responses", { store: true }, "store: must be false: nothing is stored here"],
  ["truncation", { truncation: "auto" }, "truncation: must be disabled"],
  ["a setting of reasoning", { reasoning: { context: "all" } }, "reasoning.context: unknown field"],
  ["a setting of the text", { text: { tone: "dry" } }, "text.tone: unknown field"],
  ["a setting of a tool", { tools: [{ type: "function", name: "f", cached: true }] }, "tools.0.cached: unknown field"],
  [
    "a schema that is not enforced",
    { text: { format: { type: "json_schema", schema: {}, strict: false } } },
    "text.format.strict: must be true: the schema is always enforced",
  ],
  ["what a response should include", { include: ["web_search_call.results"] }, "include.0: must be reasoning."],
])("%s is refused by name, not ignored", async (_case, more, message) => {
  const { client } = await openRunHarness({ replies: [] });
  const { status, text } = await client.post("/v1/inference/responses", { model: "scripted", input: "Hi", ...more });
  expect([status, text]).toEqual([400, expect.stringContaining(message)]);
});

test("the stock client assembles a stream into the same response as the final event", async () => {
  const reasoning = { summary: ["Think twice."], encrypted: "sealed" };
  const harness = await openRunHarness({
    replies: [
      { reasoning, messages: ["One answer"], deltas: 3, calls: [{ name: "look", arguments: { at: "home" } }] },
      freeform("patch", "*** Begin\n*** End"),
    ],
  });
  const openai = clientOf(harness);
  const stream = openai.responses.stream({ model: "scripted", input: "Hi" });
  const deltas: string[] = [];
  stream.on("response.output_text.delta", ({ delta }) => void deltas.push(delta));
  const response = await stream.finalResponse();
  expect(deltas.join("")).toBe("One answer");
  expect(response.output).toMatchObject([
    { type: "reasoning", summary: [{ text: "Think twice." }], encrypted_content: "sealed" },
    { type: "message", content: [{ type: "output_text", text: "One answer" }] },
    { type: "function_call", name: "look", arguments: '{"at":"home"}' },
  ]);
  const custom = await openai.responses.stream({ model: "scripted", input: "Hi" }).finalResponse();
  expect(custom.output).toMatchObject([{ type: "custom_tool_call", name: "patch", input: "*** Begin\n*** End" }]);
});

test("the output returned to the stock client is accepted as input", async () => {
  const harness = await openRunHarness({ replies: [call("look", { at: "home" }), replyWith("No one is home.")] });
  const openai = clientOf(harness);
  const tools = [{ type: "function" as const, name: "look", parameters: { type: "object" }, strict: false }];
  const first = await openai.responses.create({ model: "scripted", input: "Who is home?", tools });
  const [called] = first.output;
  if (called?.type !== "function_call") throw new Error("no call");
  const answer = await openai.responses.create({
    model: "scripted",
    tools,
    input: [
      { role: "user", content: "Who is home?" },
      ...(first.output as OpenAI.Responses.ResponseInputItem[]),
      { type: "function_call_output", call_id: called.call_id, output: "no one" },
    ],
  });
  expect(answer.output_text).toBe("No one is home.");
  expect(harness.requests()[1]?.body).toMatchObject({
    input: [
      { role: "user" },
      { type: "function_call", name: "look" },
      { type: "function_call_output", output: "no one" },
    ],
  });
});

test("the stock client recognizes our errors by status, and a truncated response by its reason", async () => {
  const harness = await openRunHarness({ replies: [fault(429), incomplete("max_output_tokens")] });
  const openai = clientOf(harness);
  await expect(openai.responses.create({ model: "nothing", input: "Hi" })).rejects.toMatchObject({
    status: 400,
    code: "invalid_model",
  });
  await expect(openai.responses.create({ model: "scripted", input: "Hi" })).rejects.toBeInstanceOf(
    OpenAI.RateLimitError,
  );
  const cut = await openai.responses.stream({ model: "scripted", input: "Hi" }).finalResponse();
  expect(cut).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
});
