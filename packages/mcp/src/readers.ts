// What servers send, read with nothing taken for granted: what is missing or of the wrong kind is left out.

import { isObject, type Json, type JsonObject, textOf } from "./json.ts";
import { entriesOf } from "./lists.ts";

export interface ServerTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** Hints of the server about itself: good enough to decide what is shown, not whom to trust. */
  readOnly: boolean;
  repeatable: boolean;
}

export type Clean = (text: string) => string;

/** Tools without a name, and all but the first of a name, are passed over. Descriptions are cleaned, wherever they are. */
export function readTools(entries: JsonObject[], clean: Clean): ServerTool[] {
  const tools = new Map<string, ServerTool>();
  for (const entry of entries) {
    const name = textOf(entry.name);
    if (name && !tools.has(name)) tools.set(name, readTool(name, entry, clean));
  }
  return [...tools.values()];
}

const longestDescription = 8_000;

function readTool(name: string, entry: JsonObject, clean: Clean): ServerTool {
  const hints = isObject(entry.annotations) ? entry.annotations : {};
  const title = textOf(entry.title) ?? textOf(hints.title) ?? "";
  return {
    name,
    description: clean((textOf(entry.description) || title).slice(0, longestDescription)),
    inputSchema: readSchema(cleanSchema(entry.inputSchema ?? null, clean)),
    readOnly: hints.readOnlyHint === true,
    repeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
  };
}

/** What a schema says in words; names and values of arguments stay as they are. */
function cleanSchema(value: Json, clean: Clean): Json {
  if (Array.isArray(value)) return value.map((item) => cleanSchema(item, clean));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) =>
    typeof item === "string" && (key === "description" || key === "title")
      ? [key, clean(item)]
      : [key, cleanSchema(item, clean)],
  );
  return Object.fromEntries(entries);
}

/** Providers refuse a request for one tool whose parameters are no object schema. */
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
