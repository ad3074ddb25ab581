// A configuration object as `key=value` overrides whose values are TOML.
export type ConfigValue = string | number | boolean | ConfigValue[] | ConfigObject;
export type ConfigObject = { [key: string]: ConfigValue | undefined };

/** One override per leaf. Undefined values are left out; a value without a TOML form is an error that names its key. */
export function configOverrides(config: ConfigObject): string[] {
  if (!isPlainObject(config)) throw new Error("config must be a plain object of configuration keys and values.");
  return presentEntries(config).flatMap(([key, value]) => {
    if (!key.split(".").every(fitsInPath))
      throw new Error(`Invalid config key ${JSON.stringify(key)}: expected names without "=", joined by dots.`);
    return flatten(key, value);
  });
}

/** A TOML string: escaped like JSON, and also DEL. */
export const tomlText = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

/** A table with a key that does not fit into a dotted path is written as an inline table. */
function flatten(path: string, value: ConfigValue): string[] {
  const entries = isPlainObject(value) ? presentEntries(value) : [];
  if (entries.length > 0 && entries.every(([key]) => !key.includes(".") && fitsInPath(key)))
    return entries.flatMap(([key, inner]) => flatten(`${path}.${key}`, inner));
  return [`${path}=${toml(value, path)}`];
}

/** As `-c` parses keys: split at dots, up to the first equals sign, trimmed. */
const fitsInPath = (key: string): boolean => key !== "" && !key.includes("=") && key.trim() === key;

const presentEntries = (table: ConfigObject): [string, ConfigValue][] =>
  Object.entries(table).filter((entry): entry is [string, ConfigValue] => entry[1] !== undefined);

function toml(value: unknown, path: string): string {
  if (typeof value === "string") return wellFormed(value, path);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return number(value);
  if (Array.isArray(value))
    return `[${Array.from(value, (item, index) => toml(item, `${path}[${index}]`)).join(", ")}]`;
  if (isPlainObject(value)) {
    const entries = presentEntries(value).map(([key, inner]) => {
      const name = wellFormed(key, path);
      return `${name} = ${toml(inner, `${path}.${name}`)}`;
    });
    return `{${entries.join(", ")}}`;
  }
  throw new Error(`config ${path} is ${String(value)}, which has no TOML form. Remove the key or set a value.`);
}

/** Integers beyond the safe range, and minus zero, are written as floats. */
function number(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? String(value) : value.toExponential();
}

function wellFormed(text: string, path: string): string {
  if (/\p{Surrogate}/u.test(text))
    throw new Error(
      `config ${path} has half of a surrogate pair, which UTF-8 cannot express. Remove it, for example with toWellFormed().`,
    );
  return tomlText(text);
}

function isPlainObject(value: unknown): value is ConfigObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
