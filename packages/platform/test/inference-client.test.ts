// The clients that others have for the Responses wire can use the platform as they are.
import { call, fault, freeform, incomplete, say } from "@agentcli/testkit";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { openRunBench, type RunBench } from "./run-bench.ts";

const clientOf = ({ client, spine }: RunBench): OpenAI =>
  new OpenAI({ baseURL: `${client.url}/v1/inference`, apiKey: spine.key, maxRetries: 0 });

test("the stock client reads an answer in one piece", async () => {
  const usage = { inputTokens: 3, outputTokens: 4 };
  const bench = await openRunBench({ replies: [say("Hello there.", { usage })] });
  const response = await clientOf(bench).responses.create({ model: "scripted", input: "Hi", temperature: 0.5 });
  expect(response).toMatchObject({ status: "completed", output_text: "Hello there.", usage: { total_tokens: 7 } });
});

test("the stock client puts a stream together to the same response that ends it", async () => {
  const reasoning = { summary: ["Think twice."], encrypted: "sealed" };
  const bench = await openRunBench({
    replies: [
      { reasoning, messages: ["One answer"], deltas: 3, calls: [{ name: "look", arguments: { at: "home" } }] },
      freeform("patch", "*** Begin\n*** End"),
    ],
  });
  const openai = clientOf(bench);
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

test("what the stock client was answered goes back as input", async () => {
  const bench = await openRunBench({ replies: [call("look", { at: "home" }), say("Nobody is home.")] });
  const openai = clientOf(bench);
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
      { type: "function_call_output", call_id: called.call_id, output: "nobody" },
    ],
  });
  expect(answer.output_text).toBe("Nobody is home.");
  expect(bench.requests()[1]?.body).toMatchObject({
    input: [
      { role: "user" },
      { type: "function_call", name: "look" },
      { type: "function_call_output", output: "nobody" },
    ],
  });
});

test("the stock client knows our problems by their status, and an answer that was cut by its reason", async () => {
  const bench = await openRunBench({ replies: [fault(429), incomplete("max_output_tokens")] });
  const openai = clientOf(bench);
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
