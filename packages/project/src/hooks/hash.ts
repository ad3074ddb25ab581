// Hash of a hook definition, independent of the layout of its file.
import { createHash } from "node:crypto";
import { isTable } from "../config/table.ts";

export const hashOf = (value: unknown): string => `sha256:${sha256(JSON.stringify(sorted(value)))}`;

export const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTable(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, sorted(value[key])]));
}

/** `PreToolUse` and `preToolUse` as `pre_tool_use`. */
export const snakeCase = (event: string): string =>
  event
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
