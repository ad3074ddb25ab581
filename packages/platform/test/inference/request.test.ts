import type { Message, ModelRequest } from "@agentcli/engine";
import { openModel, providerDefaults } from "@agentcli/models";
import type { Block, Part } from "@agentcli/protocol";
import { InferenceRequest } from "@agentcli/protocol/api";
import { startModelServer } from "@agentcli/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inputTokensOf } from "../../src/inference/estimate.ts";
import { modelRequestOf } from "../../src/inference/request.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);
const identity = { model: "m", callId: "resp_1", cacheKey: "key" };

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text }),
  fc.record({ type: fc.constant("image" as const), url: fc.constant("data:image/png;base64,AAAA") }),
);
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant("message" as const), text }),
  fc.record({ type: fc.constant("reasoning" as const), summary: fc.array(text), encrypted: word, wireId: word }),
  fc.record({
    type: fc.constant("call" as const),
    wireId: word,
    name: word,
    form: fc.constantFrom("function" as const, "freeform" as const),
    input: text,
  }),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom("user" as const, "developer" as const), parts: fc.array(part) }),
  fc.record({ role: fc.constant("assistant" as const), blocks: fc.array(block, { minLength: 1 }) }),
  fc.record({
    role: fc.constant("tool" as const),
    wireId: word,
    form: fc.constantFrom("function" as const, "freeform" as const),
    parts: fc.array(fc.record({ type: fc.constant("text" as const), text }), { minLength: 1, maxLength: 1 }),
  }),
);

test("a request sent by our own client is parsed back unchanged", async () => {
  const server = await startModelServer({ replies: [{ messages: ["ok"] }], repeat: "last" });
  const provider = { ...providerDefaults, id: "s", name: "s", baseUrl: server.url, wireApi: "responses" as const };
  const model = openModel(provider, { clientName: "test", clientVersion: "0", random: Math.random });
  const property = fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
    const request: ModelRequest = { ...settings, messages: joined(messages) };
    await model.reply(request, () => {}, new AbortController().signal);
    const body = InferenceRequest.parse(server.requests().at(-1)?.body);
    expect(modelRequestOf(body, identity)).toEqual({ ...request, model: "m", cacheKey: "key", turnId: "resp_1" });
  });
  await fc.assert(property, { numRuns });
  await server.close();
});

const settings: Omit<ModelRequest, "messages"> = {
  model: "gpt-5",
  instructions: "Be brief.",
  tools: [
    { form: "function", name: "look", description: "Looks.", parameters: { type: "object" } },
    { form: "freeform", name: "patch", description: "", grammar: { syntax: "lark", definition: "start: /x/" } },
  ],
  effort: "low",
  reasoningSummary: "auto",
  verbosity: "low",
  outputSchema: { type: "object" },
  maxOutputTokens: 100,
  cacheKey: "thread",
  turnId: "turn",
};

/** Consecutive replies are one on the wire, which does not mark where one ends. */
function joined(messages: Message[]): Message[] {
  const all: Message[] = [];
  for (const each of messages) {
    const before = all.at(-1);
    if (each.role === "assistant" && before?.role === "assistant") before.blocks.push(...each.blocks);
    else all.push(structuredClone(each));
  }
  return all;
}

test("any input is either refused or becomes a request whose tokens can be counted", () => {
  const member = fc.oneof(fc.jsonValue(), fc.constantFrom(...known), fc.constantFrom("input_text", "message", "auto"));
  const item = fc.dictionary(
    fc.constantFrom("type", "role", "content", "call_id", "name", "output", "summary"),
    member,
  );
  const body = fc.record(
    {
      input: fc.oneof(text, fc.array(item), member),
      tools: fc.oneof(
        fc.constantFrom([], [{ type: "function", name: "look" }], [{ type: "custom", name: "patch" }]),
        fc.array(fc.dictionary(fc.constantFrom("type", "name", "parameters", "format"), member)),
        member,
      ),
      text: fc.oneof(fc.constantFrom({}, { verbosity: "low" }, { format: { type: "text" } }), member),
      reasoning: fc.oneof(fc.constantFrom({}, { effort: "low" }), member),
      max_output_tokens: fc.oneof(fc.nat(1_000), member),
    },
    { requiredKeys: ["input"] },
  );
  let taken = 0;
  fc.assert(
    fc.property(body, (sent) => {
      const parsed = InferenceRequest.safeParse(sent);
      if (!parsed.success) return;
      taken += 1;
      const tokens = inputTokensOf(modelRequestOf(parsed.data, identity));
      expect(Number.isSafeInteger(tokens)).toBe(true);
    }),
    { numRuns: numRuns * 5 },
  );
  expect(taken).toBeGreaterThan(numRuns / 10);
});

const known = [
  { type: "message", role: "user", content: "Hi" },
  [{ type: "input_text", text: "Hi" }],
  { type: "function", name: "look" },
  { format: { type: "json_schema", schema: {} } },
  { effort: null },
];
