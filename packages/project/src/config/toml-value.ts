// A value as written after `key =` in a TOML file, on one line.
import { dottedKey, quoted } from "./table.ts";

export function tomlValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return Number.isNaN(value) ? "nan" : String(value).replace("Infinity", "inf");
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${dottedKey([key])} = ${tomlValue(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
