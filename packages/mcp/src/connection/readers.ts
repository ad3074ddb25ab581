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

export type Sanitize = (text: string) => string;

/** Tools without a name, and all but the first of a name, are skipped. All descriptions are sanitized. */
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

/** Sanitizes titles and descriptions; names and values of arguments stay as they are. */
function sanitizeSchema(value: Json, sanitize: Sanitize): Json {
  if (Array.isArray(value)) return value.map((item) => sanitizeSchema(item, sanitize));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) =>
    typeof item === "string" && (key === "description" || key === "title")
      ? [key, sanitize(item)]
      : [key, sanitizeSchema(item, sanitize)],
  );
  return Object.fromEntries(entries);
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
