// A collector for tests: receives OTLP over HTTP, and accepts only what the published messages allow.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { metricsMessage, tracesMessage, violations } from "./published.ts";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: Record<string, unknown>;
}

export interface TestCollector {
  url: string;
  spans(): ReceivedSpan[];
  /** Names of metrics with the values of their points. */
  metrics(): Record<string, { count: string; sum: number; attributes: Record<string, unknown> }[]>;
  /** Everything that was received, as text. */
  text(): string;
  /** What was refused, and why. */
  refused(): string[];
}

const messages: Record<string, typeof tracesMessage> = {
  "/v1/traces": tracesMessage,
  "/v1/metrics": metricsMessage,
};

/** Closed when the test has finished. */
export async function startTestCollector(): Promise<TestCollector> {
  const received: { path: string; body: string }[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "" } = request;
      const body = Buffer.concat(chunks).toString("utf8");
      const problems = checkRequest(path, body);
      refused.push(...problems);
      if (problems.length === 0) received.push({ path, body });
      response.writeHead(problems.length === 0 ? 200 : 400, { "content-type": "application/json" });
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const bodies = (path: string) => received.filter((each) => each.path === path).map(({ body }) => JSON.parse(body));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies("/v1/traces").flatMap(spansIn),
    metrics: () => Object.fromEntries(bodies("/v1/metrics").flatMap(metricsIn)),
    text: () => received.map(({ body }) => body).join("\n"),
    refused: () => refused,
  };
}

function checkRequest(path: string, body: string): string[] {
  const message = messages[path];
  if (!message) return [`${path} is not an address of OTLP`];
  try {
    return violations(message, JSON.parse(body));
  } catch (error) {
    return [`${path}: ${(error as Error).message}`];
  }
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

const attributesOf = (attributes: Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

type TracesBody = { resourceSpans: { scopeSpans: { spans: (ReceivedSpan & { attributes: Attribute[] })[] }[] }[] };

export const spansIn = ({ resourceSpans }: TracesBody): ReceivedSpan[] =>
  resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({ ...span, attributes: attributesOf(span.attributes) }));

interface Point {
  count: string;
  sum: number;
  attributes: Attribute[];
}

type MetricsBody = {
  resourceMetrics: { scopeMetrics: { metrics: { name: string; histogram: { dataPoints: Point[] } }[] }[] }[];
};

const metricsIn = ({ resourceMetrics }: MetricsBody) =>
  resourceMetrics
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    .map(({ name, histogram }): [string, { count: string; sum: number; attributes: Record<string, unknown> }[]] => [
      name,
      histogram.dataPoints.map((point) => ({ ...point, attributes: attributesOf(point.attributes) })),
    ]);
