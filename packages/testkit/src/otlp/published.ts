// JSON checked by the messages of OTLP as OpenTelemetry publishes them: code that it generates from opentelemetry-proto.
import root from "@opentelemetry/otlp-transformer/build/src/generated/root.js";

/** What generated code offers for one message. */
interface Message {
  fromObject(value: object): object;
  verify(message: object): string | null;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): object;
}

interface Services {
  trace: { v1: { ExportTraceServiceRequest: Message } };
  metrics: { v1: { ExportMetricsServiceRequest: Message } };
}

const { trace, metrics } = (root as unknown as { opentelemetry: { proto: { collector: Services } } }).opentelemetry
  .proto.collector;

export const tracesMessage = trace.v1.ExportTraceServiceRequest;
export const metricsMessage = metrics.v1.ExportMetricsServiceRequest;

/**
 * What is wrong with a JSON value as this message; empty if nothing is. The value is written as protobuf and read again:
 * what is lost or changed on the way is not a field of the message or does not have its type.
 */
export function violations(message: Message, value: object): string[] {
  const ids = invalidIds(value, "");
  if (ids.length > 0) return ids;
  const built = message.fromObject(mapIds(value, (id) => Buffer.from(id, "hex").toString("base64")));
  const problem = message.verify(built);
  if (problem !== null) return [problem];
  const options = { longs: String, bytes: String, arrays: true };
  const read = message.toObject(message.decode(message.encode(built).finish()), options);
  return differences(
    value,
    mapIds(read, (id) => Buffer.from(id, "base64").toString("hex")),
    "",
  );
}

/** In JSON, OTLP has ids in hexadecimal, unlike other bytes. */
const idBytes: Record<string, number> = { traceId: 16, spanId: 8, parentSpanId: 8 };

function invalidIds(value: unknown, path: string): string[] {
  return members(value).flatMap(([name, member]) => {
    const bytes = idBytes[name];
    if (bytes === undefined) return invalidIds(member, `${path}.${name}`);
    const valid = typeof member === "string" && member.length === 2 * bytes && /^[0-9a-f]+$/.test(member);
    return valid ? [] : [`${path}.${name} is not ${bytes} bytes in hexadecimal: ${JSON.stringify(member)}`];
  });
}

function mapIds<Value>(value: Value, change: (id: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (name, member) => (name in idBytes ? change(member) : member));
}

function differences(sent: unknown, read: unknown, path: string): string[] {
  if (typeof sent !== "object" || sent === null || typeof read !== "object" || read === null)
    return Object.is(sent, read) ? [] : [`${path} is ${JSON.stringify(sent)}; the message has ${JSON.stringify(read)}`];
  return members(sent).flatMap(([name, member]) =>
    differences(member, (read as Record<string, unknown>)[name], `${path}.${name}`),
  );
}

const members = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
