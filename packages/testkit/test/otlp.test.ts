import { expect, test } from "vitest";
import { metricsMessage, tracesMessage, violations } from "../src/otlp/published.ts";

const span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "chat gpt-5",
  kind: 3,
  startTimeUnixNano: "1763400000000000001",
  endTimeUnixNano: "1763400000999999999",
  attributes: [
    { key: "gen_ai.usage.input_tokens", value: { intValue: "12" } },
    { key: "gen_ai.response.finish_reasons", value: { arrayValue: { values: [{ stringValue: "stop" }] } } },
    { key: "gen_ai.request.temperature", value: { doubleValue: 0.5 } },
    { key: "gen_ai.request.stream", value: { boolValue: false } },
  ],
  events: [],
  status: {},
};
const traces = (changes: object) => ({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, ...changes }] }] }] });

const point = { count: "2", sum: 3.5, bucketCounts: ["0", "2"], explicitBounds: [1], startTimeUnixNano: "5" };
const metrics = (changes: object) => ({
  resourceMetrics: [
    {
      scopeMetrics: [
        {
          metrics: [
            { name: "n", unit: "s", histogram: { aggregationTemporality: 1, dataPoints: [{ ...point, ...changes }] } },
          ],
        },
      ],
    },
  ],
});

test("the test collector takes spans and histograms as the published messages have them", () => {
  expect(violations(tracesMessage, traces({ parentSpanId: "00f067aa0ba902b7" }))).toEqual([]);
  expect(violations(metricsMessage, metrics({}))).toEqual([]);
});

test.each([
  ["a field that the message does not have", { spanName: "x" }, "spanName"],
  ["a number as text", { name: 5 }, ".name is 5"],
  ["an id in base64", { traceId: "Cvd2UZFs1D3YRI6yEcgDGZw=" }, ".traceId is not 16 bytes"],
  ["an id that is too short", { parentSpanId: "00f067" }, ".parentSpanId is not 8 bytes"],
  ["a 64-bit number as a number", { startTimeUnixNano: 1763400000 }, "startTimeUnixNano"],
  ["a kind that does not exist", { kind: 9 }, "kind: enum value expected"],
  ["a kind by another name", { kind: "client" }, "kind"],
  [
    "two values of one attribute",
    { attributes: [{ key: "a", value: { intValue: "1", stringValue: "1" } }] },
    "multiple",
  ],
  ["attributes that are no list", { attributes: { key: "a" } }, "array expected"],
  ["a field of another message", { status: { kind: 1 } }, "status.kind"],
])("the test collector refuses spans with %s", (_, changes, message) => {
  expect(refusal(() => violations(tracesMessage, traces(changes)))).toContain(message);
});

test.each([
  ["counts as numbers", { count: 2 }, "count"],
  ["bounds as text", { explicitBounds: ["1"] }, "explicitBounds"],
  ["an unknown field", { buckets: [] }, "buckets"],
])("the test collector refuses histograms with %s", (_, changes, message) => {
  expect(refusal(() => violations(metricsMessage, metrics(changes)))).toContain(message);
});

function refusal(check: () => string[]): string {
  try {
    return check().join("\n");
  } catch (error) {
    return (error as Error).message;
  }
}
