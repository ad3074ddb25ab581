// `-c key=value`: a dotted key and a TOML value, or a plain string where it is not TOML.
import { ConfigProblem } from "./problem.ts";
import type { Table } from "./table.ts";

export type ParseToml = (text: string) => Table;

/** Later overrides win; a value in the way of a table is replaced by the table. */
export function applyOverrides(config: Table, overrides: string[], parseToml: ParseToml): Table {
  return overrides.reduce((result, override) => {
    const { path, value } = parseOverride(override, parseToml);
    return setAt(result, path, value);
  }, config);
}

export function parseOverride(override: string, parseToml: ParseToml): { path: string[]; value: unknown } {
  const equals = override.indexOf("=");
  const key = override.slice(0, Math.max(0, equals)).trim();
  if (equals === -1 || key === "") {
    throw new ConfigProblem(`-c ${override}: expected key=value, for example -c model="gpt-5.4".`);
  }
  const path = key.split(".");
  if (path.some((part) => part === "")) throw new ConfigProblem(`-c ${override}: the key ${key} has an empty part.`);
  return { path, value: parseValue(override.slice(equals + 1).trim(), parseToml) };
}

function parseValue(text: string, parseToml: ParseToml): unknown {
  try {
    return parseToml(`value = ${text}`).value;
  } catch {
    return text.replace(/^(["'])(.*)\1$/s, "$2");
  }
}

function setAt(table: Table, [key = "", ...rest]: string[], value: unknown): Table {
  if (rest.length === 0) return { ...table, [key]: value };
  const inner = table[key];
  return { ...table, [key]: setAt(isTable(inner) ? inner : {}, rest, value) };
}

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
