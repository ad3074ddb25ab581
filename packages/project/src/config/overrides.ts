// `-c key=value`: a dotted key and a TOML value, or a plain string where it is not TOML.
import { ConfigError } from "./config-error.ts";
import { type Table, withValueAt } from "./table.ts";

export type ParseToml = (text: string) => Table;

/** Later overrides win. */
export function readOverrides(overrides: string[], parseToml: ParseToml): Table {
  return overrides.reduce<Table>((result, override) => {
    const { path, value } = parseOverride(override, parseToml);
    return withValueAt(result, path, value);
  }, {});
}

export function parseOverride(override: string, parseToml: ParseToml): { path: string[]; value: unknown } {
  const equals = override.indexOf("=");
  const key = override.slice(0, Math.max(0, equals)).trim();
  if (equals === -1 || key === "") {
    throw new ConfigError(`-c ${override}: expected key=value, for example -c model="gpt-5.4".`);
  }
  const path = key.split(".");
  if (path.some((part) => part === "")) throw new ConfigError(`-c ${override}: the key ${key} has an empty part.`);
  return { path, value: parseValue(override.slice(equals + 1).trim(), parseToml) };
}

/** More than one line of TOML would be more than one value. */
function parseValue(text: string, parseToml: ParseToml): unknown {
  try {
    const table = parseToml(`value = ${text}`);
    if (Object.keys(table).length === 1) return table.value;
  } catch {
    // Not TOML: the text itself is the value.
  }
  return text.replace(/^(["'])(.*)\1$/s, "$2");
}
