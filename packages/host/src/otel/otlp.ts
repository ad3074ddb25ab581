// Spans and metrics as requests of OTLP over HTTP, in JSON: ids in hexadecimal, 64-bit numbers as text, enums as numbers.
import type { Attributes, Span } from "./span.ts";
import type { RequestFigures } from "./trace.ts";

export function tracesRequest(resource: Attributes, spans: Span[]): object {
  return {
    resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope, spans: spans.map(spanOf) }] }],
  };
}

const scope = { name: "agentcli" };
const resourceOf = (attributes: Attributes): object => ({ attributes: attributesOf(attributes) });

const spanKinds = { internal: 1, client: 3 };
const statusError = 2;

function spanOf({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf({ ...attributes, ...(error !== undefined && { "error.type": error }) }),
    status: error === undefined ? {} : { code: statusError },
  };
}

const nanoseconds = (ms: number): string => `${BigInt(Math.round(ms)) * 1_000_000n}`;

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: otlpValue(value) }]));

function otlpValue(value: NonNullable<Attributes[string]>): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Bounds that the conventions recommend. */
const tokenBounds = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

export function metricsRequest(resource: Attributes, requests: RequestFigures[], startMs: number): object {
  const endMs = Math.max(startMs, ...requests.map(({ atMs }) => atMs));
  const times = { startMs, endMs };
  const tokens = requests.flatMap(({ usage, attributes }) => [
    { value: usage.inputTokens, attributes: { ...attributes, "gen_ai.token.type": "input" } },
    { value: usage.outputTokens, attributes: { ...attributes, "gen_ai.token.type": "output" } },
  ]);
  const durations = requests.map(({ durationMs, attributes }) => ({ value: durationMs / 1_000, attributes }));
  const metrics = [
    histogram({ name: "gen_ai.client.token.usage", unit: "{token}", bounds: tokenBounds }, tokens, times),
    histogram({ name: "gen_ai.client.operation.duration", unit: "s", bounds: secondBounds }, durations, times),
  ];
  return { resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope, metrics }] }] };
}

interface Measurement {
  value: number;
  attributes: Attributes;
}

interface Histogram {
  name: string;
  unit: string;
  bounds: number[];
}

const deltaTemporality = 1;

function histogram({ name, unit, bounds }: Histogram, measurements: Measurement[], times: Times): object {
  const series = new Map<string, Measurement[]>();
  for (const measurement of measurements) {
    const key = JSON.stringify(measurement.attributes);
    series.set(key, [...(series.get(key) ?? []), measurement]);
  }
  const dataPoints = [...series.values()].map((points) => dataPoint(points, bounds, times));
  return { name, unit, histogram: { aggregationTemporality: deltaTemporality, dataPoints } };
}

interface Times {
  startMs: number;
  endMs: number;
}

function dataPoint(points: Measurement[], bounds: number[], { startMs, endMs }: Times): object {
  const values = points.map(({ value }) => value);
  const bucketOf = (value: number): number => {
    const index = bounds.findIndex((bound) => value <= bound);
    return index < 0 ? bounds.length : index;
  };
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const value of values) counts[bucketOf(value)] = (counts[bucketOf(value)] ?? 0) + 1;
  return {
    attributes: attributesOf(points[0]?.attributes ?? {}),
    startTimeUnixNano: nanoseconds(startMs),
    timeUnixNano: nanoseconds(endMs),
    count: String(values.length),
    sum: values.reduce((sum, value) => sum + value, 0),
    bucketCounts: counts.map(String),
    explicitBounds: bounds,
    min: Math.min(...values),
    max: Math.max(...values),
  };
}
