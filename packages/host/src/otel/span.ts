// Spans and their ids, in the words of OpenTelemetry.
import { randomBytes } from "node:crypto";

export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: "internal" | "client";
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why it failed: a code, never a text. */
  error?: string | undefined;
}

/** Where a trace goes on: a `traceparent` of W3C Trace Context. */
export interface TraceContext {
  traceId: string;
  spanId: string;
  flags: string;
}

export const newTraceId = (): string => randomBytes(16).toString("hex");
export const newSpanId = (): string => randomBytes(8).toString("hex");

/** Undefined for text that is not a valid `traceparent`: the trace then begins here. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  if (version === "00" && text?.trim().length !== 55) return undefined;
  return { traceId, spanId, flags };
}

export const formatTraceparent = ({ traceId, spanId, flags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${flags}`;
