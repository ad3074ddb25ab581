// Reads what servers send. Members that are missing or of the wrong type are left out.
import { isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { entriesOf } from "./lists.ts";

export interface ServerTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** The server's own hints: fine for display and approval defaults, not a security boundary. */
  readOnly: boolean;
  repeatable: boolean;
}

/** Everything of a tool that the model and the user can see. */
export const definitionOf = ({ name, ...definition }: ServerTool): string => JSON.stringify(definition);

export type Sanitize = (text: string) => string;

/** Tools without a name, and all but the first of a name, are skipped. Descriptions and schemas are sanitized. */
export function readTools(entries: JsonObject[], sanitize: Sanitize): ServerTool[] {
  const tools = new Map<string, ServerTool>();
  for (const entry of entries) {
    const name = textOf(entry.name);
    if (name && !tools.has(name)) tools.set(name, readTool(name, entry, sanitize));
  }
  return [...tools.values()];
}

const maxDescriptionLength = 8_000;

function readTool(name: string, entry: JsonObject, sanitize: Sanitize): ServerTool {
  const hints = isObject(entry.annotations) ? entry.annotations : {};
  const title = textOf(entry.title) ?? textOf(hints.title) ?? "";
  return {
    name,
    description: sanitize((textOf(entry.description) || title).slice(0, maxDescriptionLength)),
    inputSchema: readSchema(sanitizeSchema(entry.inputSchema ?? null, sanitize)),
    readOnly: hints.readOnlyHint === true,
    repeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
  };
}

/** Every text, names of arguments and their values included: the model reads all of it. */
function sanitizeSchema(value: Json, sanitize: Sanitize): Json {
  if (typeof value === "string") return sanitize(value);
  if (Array.isArray(value)) return value.map((item) => sanitizeSchema(item, sanitize));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [sanitize(name), sanitizeSchema(item, sanitize)]),
  );
}

/** Providers refuse the whole request if the parameters of one tool are not an object schema. */
function readSchema(schema: Json | undefined): JsonObject {
  const read = isObject(schema) ? schema : {};
  return { ...read, type: "object", properties: isObject(read.properties) ? read.properties : {} };
}

export interface CallResult {
  content: JsonObject[];
  structuredContent: Json;
  meta: Json | undefined;
  isError: boolean;
}

export const readCallResult = (result: JsonObject): CallResult => ({
  content: entriesOf(result, "content"),
  structuredContent: isObject(result.structuredContent) ? result.structuredContent : null,
  meta: isObject(result._meta) ? result._meta : undefined,
  isError: result.isError === true,
});
