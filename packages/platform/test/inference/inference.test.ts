import type { ModelReply } from "@agentcli/engine";
import { openModel, providerDefaults } from "@agentcli/models";
import { call, freeform, replyWith } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";
import { ask, callsIn, eventsOf, json, modelThrough, never, question } from "./inference-harness.ts";

test("a response is streamed as the events that Responses clients expect, numbered without a gap", async () => {
  const { client, requests } = await openRunHarness({
    replies: [
      {
        reasoning: { summary: ["Think."], encrypted: "sealed" },
        messages: ["Hello there."],
        deltas: 2,
        calls: [{ name: "look", arguments: { at: 1 }, callId: "call_1" }],
        usage: { inputTokens: 12, cachedInputTokens: 2, outputTokens: 7, reasoningOutputTokens: 3 },
      },
    ],
  });
  const answer = await ask(client, { input: "Hello", stream: true });
  expect(answer.headers["content-type"]).toContain("text/event-stream");
  const events = eventsOf(answer);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  const { response } = events.at(-1) as unknown as { response: object };
  expect(response).toMatchObject({
    status: "completed",
    output: [
      { type: "reasoning", summary: [{ text: "Think." }], encrypted_content: "sealed" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello there." }] },
      { type: "function_call", name: "look", call_id: "call_1", arguments: '{"at":1}' },
    ],
    usage: { input_tokens: 12, input_tokens_details: { cached_tokens: 2 }, output_tokens: 7, total_tokens: 19 },
  });
  expect(requests()[0]?.body).toMatchObject({ model: "scripted", input: [{ role: "user" }] });
});

test("without streaming the response is one object, and the practice model needs no provider", async () => {
  const { client, fixture } = await openRunHarness({ replies: [] });
  const answer = await ask(client, { model: "practice", input: [{ role: "user", content: "What can you do?" }] });
  expect(answer.status).toBe(200);
  expect(json(answer)).toMatchObject({ object: "response", status: "completed", model: "practice", error: null });
  expect(json(answer).output[0].content[0].text).toMatch(/practice/i);
  expect(await callsIn(fixture)).toMatchObject([{ status: "completed", model: "practice", cost_usd: "0" }]);
});

describe("a model called through the platform replies as if called directly", () => {
  const replies = [
    { reasoning: { summary: ["First.", "Second."], encrypted: "sealed" }, messages: ["One.", "Two."] },
    call("exec_command", { cmd: "true" }),
    freeform("apply_patch", "*** Begin Patch\n*** End Patch"),
    {
      calls: [
        { name: "a", arguments: {} },
        { name: "b", arguments: "not json" },
      ],
    },
    replyWith("\u0000 and \ud83d\ude00 \r\n kept"),
  ];
  for (const wireApi of ["responses", "chat"] as const)
    test(`over ${wireApi}`, async () => {
      const harness = await openRunHarness({ replies: replies.flatMap((reply) => [reply, reply]), wireApi });
      const [through, direct] = [modelThrough(harness), directModel(harness, wireApi)];
      for (const _ of replies) {
        const expected = await direct.reply(question, () => {}, never);
        const given = await through.reply(question, () => {}, never);
        expect(withoutIds(given)).toEqual(withoutIds(expected));
      }
    });
});

function directModel({ fixture }: RunHarness, wireApi: "responses" | "chat") {
  const { base_url: baseUrl = "" } = fixture.platform.settings.models.model_providers?.scripted ?? {};
  const provider = { ...providerDefaults, id: "scripted", name: "scripted", baseUrl, wireApi };
  return openModel(provider, { clientName: "test", clientVersion: "0", random: Math.random });
}

function withoutIds(reply: ModelReply): unknown {
  if (reply.kind === "fault") return reply;
  return { ...reply, blocks: reply.blocks.map((block) => ({ ...block, wireId: undefined, itemId: undefined })) };
}

const image = (image_url: string) => ({ type: "input_image", image_url });

test("images, tools and the settings of the request reach the provider; the cache key of the caller does not", async () => {
  const { client, requests } = await openRunHarness({ replies: [replyWith("Seen.")] });
  await ask(client, {
    input: [
      { role: "system", content: "Rules." },
      { role: "user", content: [{ type: "input_text", text: "Look" }, image("data:image/png;base64,AAAA")] },
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "seen\u0000" },
    ],
    tools: [
      { type: "function", name: "look", parameters: { type: "object" }, strict: true },
      { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: /x/" } },
    ],
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: { type: "object" } } },
    max_output_tokens: 500,
    prompt_cache_key: "my secret\nthread",
    user: "u-1",
  });
  expect(requests()[0]?.body).toMatchObject({
    input: [
      { role: "developer", content: [{ text: "Rules." }] },
      { role: "user", content: [{ text: "Look" }, { type: "input_image", image_url: "data:image/png;base64,AAAA" }] },
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "seen\u0000" },
    ],
    tools: [
      { type: "function", name: "look" },
      { type: "custom", name: "patch" },
    ],
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low", format: { type: "json_schema", schema: { type: "object" } } },
    max_output_tokens: 500,
  });
  expect(JSON.stringify(requests()[0])).not.toMatch(/secret|unknown/);
});
