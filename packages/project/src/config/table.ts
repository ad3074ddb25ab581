// A TOML table before validation, and operations on tables.
export type Table = { [key: string]: unknown };

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Tables merge key by key; everything else, lists included, is replaced. */
export function mergeTables(under: Table, over: Table): Table {
  const merged = Object.entries(over).map(([key, value]) => {
    const below = ownValue(under, key);
    return [key, isTable(below) && isTable(value) ? mergeTables(below, value) : value];
  });
  return { ...under, ...Object.fromEntries(merged) };
}

export interface Leaf {
  path: string[];
  value: unknown;
}

/** All values that are not tables, and empty tables. */
export function* leavesOf(table: Table, path: string[] = []): Generator<Leaf> {
  for (const [key, value] of Object.entries(table)) {
    const here = [...path, key];
    if (isTable(value) && Object.keys(value).length > 0) yield* leavesOf(value, here);
    else yield { path: here, value };
  }
}

/** Undefined if the path does not exist. */
export function valueAt(table: Table, path: string[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? ownValue(value, key) : undefined), table);
}

/** A value on the path is replaced by a table. */
export function withValueAt(table: Table, [key = "", ...rest]: string[], value: unknown): Table {
  if (rest.length === 0) return { ...table, [key]: value };
  const inner = ownValue(table, key);
  return { ...table, [key]: withValueAt(isTable(inner) ? inner : {}, rest, value) };
}

/** Unchanged if the path does not exist. */
export function withoutValueAt(table: Table, [key = "", ...rest]: string[]): Table {
  if (!Object.hasOwn(table, key)) return table;
  const { [key]: inner, ...others } = table;
  if (rest.length === 0) return others;
  return isTable(inner) ? { ...table, [key]: withoutValueAt(inner, rest) } : table;
}

/** As written in a file: `projects."/home/me/project".trust_level`. */
export const dottedKey = (path: string[]): string =>
  path.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key))).join(".");

/** TOML escapes like JSON, plus DEL. */
export const quoted = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

const ownValue = (table: Table, key: string): unknown => (Object.hasOwn(table, key) ? table[key] : undefined);
