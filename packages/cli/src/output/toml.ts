// A value as it would stand behind `key =` in a TOML file, on one line.
export function tomlValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return Number.isNaN(value) ? "nan" : String(value).replace("Infinity", "inf");
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlValue(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

const tomlKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key));

/** TOML escapes as JSON does, and DEL besides. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
