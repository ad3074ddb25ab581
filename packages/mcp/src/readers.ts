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

/** Tools without a name, and all but the first of a name, are passed over. */
export function readTools(entries: JsonObject[]): ServerTool[] {
  const tools = new Map<string, ServerTool>();
  for (const entry of entries) {
    const name = textOf(entry.name);
    if (name && !tools.has(name)) tools.set(name, readTool(name, entry));
  }
  return [...tools.values()];
}

const longestDescription = 8_000;

function readTool(name: string, entry: JsonObject): ServerTool {
  const hints = isObject(entry.annotations) ? entry.annotations : {};
  const title = textOf(entry.title) ?? textOf(hints.title) ?? "";
  return {
    name,
    description: (textOf(entry.description) || title).slice(0, longestDescription),
    inputSchema: readSchema(entry.inputSchema),
    readOnly: hints.readOnlyHint === true,
    repeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
  };
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
