// A JSON Schema as a tree: its subschemas by keyword, and where each one is.
export type Schema = Record<string, unknown>;

export const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords whose value is a table of subschemas, a list of them, or one. */
const tables = ["properties", "$defs", "definitions"];
const lists = ["anyOf"];
const singles = ["items"];

/** Replaces each direct subschema by the result of `change`; everything else stays. */
export function mapSubschemas(schema: Schema, change: (subschema: unknown, pointer: string) => unknown): Schema {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (tables.includes(keyword) && isObject(value)) return [keyword, mapTable(keyword, value, change)];
    if (lists.includes(keyword) && Array.isArray(value))
      return [keyword, value.map((part, index) => change(part, `/${keyword}/${index}`))];
    return singles.includes(keyword) ? [keyword, change(value, `/${keyword}`)] : [keyword, value];
  });
  return Object.fromEntries(entries);
}

const mapTable = (keyword: string, table: Schema, change: (subschema: unknown, pointer: string) => unknown): Schema =>
  Object.fromEntries(
    Object.entries(table).map(([name, part]) => [name, change(part, `/${keyword}/${pointerPart(name)}`)]),
  );

/** The direct subschemas and their pointers. */
export function subschemas(schema: Schema): { schema: unknown; pointer: string }[] {
  const found: { schema: unknown; pointer: string }[] = [];
  mapSubschemas(schema, (subschema, pointer) => {
    found.push({ schema: subschema, pointer });
    return subschema;
  });
  return found;
}

/** A name as one step of a JSON pointer in the form that stands behind the # of a reference. */
export const pointerPart = (name: string): string =>
  encodeURI(name.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("#", "%23");

/** What a pointer such as #/$defs/name leads to; undefined where it leads nowhere. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1).map(nameOf);
  return steps.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return value[Number(step)];
    return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }, root);
}

function nameOf(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}
