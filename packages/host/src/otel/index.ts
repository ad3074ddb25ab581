// Telemetry of a run for those who ask for it: the records that its threads store become a trace and metrics.
import type { SessionStore } from "@agentcli/engine";
import type { OtelConfig } from "@agentcli/protocol";
import { type Destination, send } from "./export.ts";
import { metricsRequest, tracesRequest } from "./otlp.ts";
import { type Attributes, formatTraceparent, newSpanId, newTraceId, parseTraceparent, type Span } from "./span.ts";
import { openTrace, type RequestFigures } from "./trace.ts";

export { parseTraceparent } from "./span.ts";

export interface TelemetryOptions {
  config: OtelConfig;
  variables: Record<string, string | undefined>;
  program: { name: string; version: string };
  /** The `traceparent` that the run was started with. */
  parent: string | undefined;
  /** Of the run: ids, never texts of users. */
  attributes: Attributes;
  warn(message: string): void;
}

export interface RunTelemetry {
  /** For what the run starts: its commands are part of the trace. */
  traceparent: string;
  /** The same store; what it stores is traced. */
  store<Store extends SessionStore>(store: Store): Store;
  /** Sends what is left. Never fails. */
  end(): Promise<void>;
}

export const isOn = (config: OtelConfig | undefined): config is OtelConfig =>
  config?.endpoint !== undefined || config?.file !== undefined;

/** Spans are sent in parts, so that a long run does not keep them all. */
const maxSpans = 512;

export function openTelemetry({
  config,
  variables,
  program,
  parent,
  attributes,
  warn,
}: TelemetryOptions): RunTelemetry {
  const context = parseTraceparent(parent);
  const root = {
    traceId: context?.traceId ?? newTraceId(),
    spanId: newSpanId(),
    parentSpanId: context?.spanId,
    flags: context?.flags ?? "01",
  };
  const destination = destinationOf(config, variables);
  const resource: Attributes = {
    "service.name": config.service_name ?? program.name,
    "service.version": program.version,
    "telemetry.sdk.name": "agentcli",
    "telemetry.sdk.language": "nodejs",
  };
  const startMs = Date.now();
  const figures: RequestFigures[] = [];
  let spans: Span[] = [];
  let sending = Promise.resolve();
  let hasWarned = false;
  const report = (problems: string[]): void => {
    if (problems[0] && !hasWarned) warn(problems[0]);
    hasWarned ||= problems.length > 0;
  };
  const sendSpans = (): void => {
    const part = spans;
    spans = [];
    if (part.length === 0) return;
    sending = sending.then(async () => report(await send("traces", tracesRequest(resource, part), destination)));
  };
  const trace = openTrace({
    root,
    agentName: program.name,
    attributes,
    content: config.include_content ? "included" : "left out",
    onRequest: (request) => void figures.push(request),
    onSpan(span) {
      spans.push(span);
      if (spans.length >= maxSpans) sendSpans();
    },
  });
  return {
    traceparent: formatTraceparent(root),
    store: (store) => ({
      ...store,
      async append(threadId, after, records) {
        const stored = await store.append(threadId, after, records);
        for (const one of stored) trace.take(threadId, one);
        return stored;
      },
    }),
    async end() {
      sendSpans();
      await sending;
      if (figures.length > 0)
        report(await send("metrics", metricsRequest(resource, figures.splice(0), startMs), destination));
    },
  };
}

function destinationOf(config: OtelConfig, variables: TelemetryOptions["variables"]): Destination {
  const named = Object.entries(config.env_headers ?? {}).flatMap(([header, name]) => {
    const value = variables[name];
    return value ? [[header, value]] : [];
  });
  return {
    endpoint: config.endpoint,
    file: config.file,
    headers: { ...config.headers, ...Object.fromEntries(named) },
  };
}
