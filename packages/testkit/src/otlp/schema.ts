// JSON checked by the messages of OTLP as its protobuf description (opentelemetry-proto) names them.
import { readFileSync } from "node:fs";

interface Field {
  type: string;
  repeated: boolean;
  /** At most one field of a group is set. */
  group: string | null;
}

type Messages = Map<string, Map<string, Field>>;

interface Schema {
  messages: Messages;
  enums: Map<string, Set<number>>;
}

/** What is wrong with a JSON value as a message of this name; empty if nothing is. */
export function violations(message: string, value: unknown): string[] {
  return checkMessage(message, value, message);
}

const schema = readSchema(readFileSync(new URL("./messages.proto", import.meta.url), "utf8").replace(/^\/\/.*/, ""));

/** Nested messages are known by their last name: in OTLP no two share one. */
function readSchema(text: string): Schema {
  const { messages, enums }: Schema = { messages: new Map(), enums: new Map() };
  const open: { kind: string; name: string }[] = [];
  const tokens =
    /\b(message|enum|oneof)\s+(\w+)\s*\{|(\})|\{|(repeated\s+|optional\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+[^;]*;|(\w+)\s*=\s*(-?\d+)[^;]*;/g;
  for (const [, kind, name = "", close, label = "", type, field, , number] of text.matchAll(tokens)) {
    if (kind) {
      open.push({ kind, name });
      if (kind === "message") messages.set(name, new Map());
      if (kind === "enum") enums.set(name, new Set());
    } else if (close) open.pop();
    else if (type && field) {
      const message = open.findLast((each) => each.kind === "message")?.name ?? "";
      const group = open.at(-1)?.kind === "oneof" ? (open.at(-1)?.name ?? null) : null;
      const repeated = label.startsWith("repeated");
      messages.get(message)?.set(camelCase(field), { type: type.split(".").at(-1) ?? "", repeated, group });
    } else if (number !== undefined) enums.get(open.at(-1)?.name ?? "")?.add(Number(number));
  }
  return { messages, enums };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function checkMessage(name: string, value: unknown, path: string): string[] {
  const fields = schema.messages.get(name);
  if (!fields) return [`${path}: the description has no message ${name}`];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is not an object`];
  const groups = Object.keys(value).flatMap((key) => fields.get(key)?.group ?? []);
  const twice = groups.filter((group, index) => groups.indexOf(group) !== index);
  return [
    ...twice.map((group) => `${path} has several of ${group}`),
    ...Object.entries(value).flatMap(([key, member]) => {
      const field = fields.get(key);
      return field ? checkField(field, member, `${path}.${key}`) : [`${path}.${key} is not a field of ${name}`];
    }),
  ];
}

function checkField({ type, repeated }: Field, value: unknown, path: string): string[] {
  if (!repeated) return checkValue(type, value, path);
  if (!Array.isArray(value)) return [`${path} is not a list`];
  return value.flatMap((item, index) => checkValue(type, item, `${path}[${index}]`));
}

function checkValue(type: string, value: unknown, path: string): string[] {
  const valid = scalars[type];
  if (valid) return valid(value, path) ? [] : [`${path} is not a ${type}: ${JSON.stringify(value)}`];
  const members = schema.enums.get(type);
  if (members) return members.has(value as number) ? [] : [`${path} is not a ${type}: ${JSON.stringify(value)}`];
  return checkMessage(type, value, path);
}

const isInteger = (value: unknown): boolean => Number.isInteger(value);
const isLong = (value: unknown): boolean => typeof value === "string" && /^-?\d{1,20}$/.test(value);
const isNumber = (value: unknown): boolean => typeof value === "number";

/** As the JSON mapping has them; ids of OTLP are hexadecimal, unlike other bytes. */
const scalars: Record<string, (value: unknown, path: string) => boolean> = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  double: isNumber,
  uint32: isInteger,
  int32: isInteger,
  sint32: isInteger,
  fixed32: isInteger,
  int64: isLong,
  uint64: isLong,
  fixed64: isLong,
  sfixed64: isLong,
  bytes: (value, path) =>
    typeof value === "string" && (path.endsWith("raceId") ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{16}$/).test(value),
};
