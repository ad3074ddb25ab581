import type { ModelProgress } from "@agentcli/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropicFormat } from "../src/anthropic/model.ts";
import { chatFormat } from "../src/chat/model.ts";
import { responsesFormat } from "../src/responses/model.ts";
import { plainRequest } from "./harness.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

// Random values under the names of the wires, to reach the inner parts of a reader.
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.constantFrom(
      "message",
      "reasoning",
      "function_call",
      "custom_tool_call",
      "stop",
      "length",
      "",
      null,
      0,
      -1,
      1.5,
    ),
    fc.array(tie("any"), { maxLength: 3 }),
    tie("fields"),
  ),
  fields: fc.dictionary(
    fc.constantFrom(
      ...["type", "item", "response", "error", "delta", "usage", "content", "summary", "text", "id", "call_id", "name"],
      ...["arguments", "input", "choices", "tool_calls", "function", "index", "finish_reason", "code", "message"],
      ...["input_tokens", "input_tokens_details", "prompt_tokens", "reasoning", "incomplete_details", "__proto__"],
    ),
    tie("any"),
  ),
})).any;

const eventType = fc.constantFrom(
  ...["response.created", "response.output_item.added", "response.output_item.done", "response.output_text.delta"],
  ...["response.completed", "response.failed", "response.incomplete", "error", "response.reasoning_text.delta"],
);
const event = fc.oneof(
  value.map((any) => JSON.stringify(any)),
  fc.tuple(eventType, value).map(([type, any]) => JSON.stringify({ ...Object(any), type })),
  fc.tuple(eventType, value).map(([type, any]) => JSON.stringify({ type, item: any, response: any, delta: any })),
  value.map((any) => JSON.stringify({ choices: [{ delta: any, finish_reason: null }] })),
  value.map((any) => JSON.stringify({ choices: [{ delta: { tool_calls: [any, any], content: any } }] })),
  fc.string(),
  fc.constant("[DONE]"),
);

describe.each([
  { name: "responses", format: responsesFormat, last: '{"type":"response.completed","response":{}}' },
  { name: "chat", format: chatFormat, last: "[DONE]" },
  { name: "anthropic", format: anthropicFormat, last: '{"type":"message_stop"}' },
])("the stream reader of $name", ({ format, last }) => {
  test("settles on its last event after any events, and never throws", () => {
    fc.assert(
      fc.property(fc.array(event), fc.string(), (events, type) => {
        const progress: ModelProgress[] = [];
        const onProgress = (news: ModelProgress) => void progress.push(news);
        const reader = format.reader({ serverName: "Test", request: plainRequest, onProgress });
        const outcomes = [...events, last].map((data) => reader.take(data, type));
        reader.end();
        const outcome = outcomes.find((found) => typeof found === "object");
        expect(["replied", "fault"]).toContain(outcome?.kind);
        expect(progress.every((news) => "delta" in news || "name" in news || "block" in news)).toBe(true);
        if (outcome?.kind === "replied") expect(Object.values(outcome.usage).every((tokens) => tokens >= 0)).toBe(true);
      }),
      { numRuns },
    );
  });
});
