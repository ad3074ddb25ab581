// Takes out of an answer the nulls that stand for properties which are not there.
import { typesOf } from "./types.ts";
import { isObject, pointerPart, resolvePointer, type Schema } from "./walk.ts";

/** Whether a value satisfies the subschema at a pointer of the root. */
export type Satisfies = (value: unknown, pointer: string) => boolean;

/** The same value where nothing was taken out. */
export function removeAbsent(answer: unknown, root: Schema, satisfies: Satisfies): unknown {
  return clean(answer, "");

  function clean(value: unknown, pointer: string): unknown {
    const schema = resolvePointer(root, pointer);
    if (!isObject(schema) || typeof value !== "object" || value === null) return value;
    if (typeof schema.$ref === "string") return clean(value, schema.$ref.slice(1));
    if (Array.isArray(schema.anyOf)) return cleanChoice(value, schema.anyOf.length, pointer);
    if (Array.isArray(value)) return kept(value, cleanItems(value, pointer));
    return cleanObject(value as Schema, schema, pointer);
  }

  /** Which of the cases is meant shows only once its nulls are gone. */
  function cleanChoice(value: unknown, cases: number, pointer: string): unknown {
    for (let index = 0; index < cases; index += 1) {
      const location = `${pointer}/anyOf/${index}`;
      const cleaned = clean(value, location);
      if (satisfies(cleaned, location)) return cleaned;
    }
    return value;
  }

  function cleanItems(value: unknown[], pointer: string): unknown[] {
    return value.map((item) => clean(item, `${pointer}/items`));
  }

  function cleanObject(value: Schema, { properties, required }: Schema, pointer: string): Schema {
    const known = isObject(properties) ? properties : {};
    const needed = new Set(Array.isArray(required) ? required : []);
    const entries = Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
      if (!Object.hasOwn(known, name)) return [[name, part]];
      const location = `${pointer}/properties/${pointerPart(name)}`;
      const absent = part === null && !needed.has(name) && !admitsNull(known[name], location);
      return absent ? [] : [[name, clean(part, location)]];
    });
    const unchanged =
      entries.length === Object.keys(value).length && entries.every(([name, part]) => value[name] === part);
    return unchanged ? value : Object.fromEntries(entries);
  }

  function admitsNull(schema: unknown, pointer: string): boolean {
    return isObject(schema) && ("$ref" in schema || "anyOf" in schema || typesOf(schema).includes("null"))
      ? satisfies(null, pointer)
      : false;
  }
}

const kept = (before: unknown[], after: unknown[]): unknown[] =>
  after.every((item, index) => item === before[index]) ? before : after;
