// Values for a JSON Schema of an OpenAPI document: valid ones, nearly valid ones, and hostile ones.
import fc from "fast-check";

export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  propertyNames?: Schema;
  items?: Schema;
  maxItems?: number;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
}

/** Valid texts for fields of that name; the schema alone would rarely generate them. */
export type Words = Record<string, fc.Arbitrary<string>>;

export function allowed(schema: Schema, words: Words, name = ""): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => allowed(one, words, name)));
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.integer({ min: (schema.exclusiveMinimum ?? (schema.minimum ?? 0) - 1) + 1, max: 100_000 });
    case "array":
      return fc.array(allowed(schema.items ?? {}, words, name), { maxLength: Math.min(3, schema.maxItems ?? 3) });
    case "object":
      return allowedObject(schema, words);
    case "string":
      return allowedText(schema, words[name]);
    default:
      return fc.constant(null);
  }
}

function allowedObject(schema: Schema, words: Words): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const named = Object.entries(properties).map(([name, inner]) => [name, allowed(inner, words, name)] as const);
  if (named.length > 0) return fc.record(Object.fromEntries(named), { requiredKeys: required });
  const values = typeof additionalProperties === "object" ? allowed(additionalProperties, words) : fc.constant(null);
  return fc.dictionary(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,9}$/), values, { maxKeys: 3 });
}

function allowedText(schema: Schema, known: fc.Arbitrary<string> | undefined): fc.Arbitrary<string> {
  if (known) return known;
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.format === "uri") return fc.webUrl();
  const { minLength = 0, maxLength = 40 } = schema;
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}

/** One change to a valid value: a hostile value, an additional field or a missing one. */
export function spoiled(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(value, fc.nat(), hostile, fc.constantFrom("replace", "remove", "add"))
    .map(([whole, position, bad, how]) => {
      const copy = structuredClone(whole);
      const holders = holdersIn(copy);
      const holder = holders[position % Math.max(1, holders.length)];
      if (!holder) return bad;
      const names = Object.keys(holder);
      const name = names[position % Math.max(1, names.length)] ?? "missing";
      if (how === "remove") delete holder[name];
      else holder[how === "add" ? `${name}_` : name] = bad;
      return copy;
    });
}

function holdersIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return [holder, ...Object.values(holder).flatMap(holdersIn)];
}

const awkwardTexts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e\ufeff",
  "../../../../data/kek",
  "-",
  "--upload-pack=true",
  "__proto__",
  "constructor",
  "null",
  "true",
  "0",
  "-1",
  "1e400",
  "NaN",
  "' or 1=1 --",
  "$(true)",
  "%00",
  "%ff%fe",
  "\r\nx-injected: 1",
  "é".repeat(300),
  "x".repeat(10_000),
];

/** For paths and headers, which are text only. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...awkwardTexts),
  fc.string({ unit: "binary", maxLength: 30 }),
);

export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, 1e308, -0, [], {}, [[]], [null], { a: {} }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(nested(50), Array(2_000).fill(1), JSON.parse('{"__proto__":{"text":"x"}}'), ["x", {}]),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

function nested(depth: number): unknown {
  return Array.from({ length: depth }).reduce((inner) => [inner], "deep" as unknown);
}
