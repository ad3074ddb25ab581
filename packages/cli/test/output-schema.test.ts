import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { temporaryDirectory } from "@agentcli/testkit";
import Ajv from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadOutputSchema } from "../src/output-schema/load.ts";
import { strictForm } from "../src/output-schema/strict-form.ts";
import { findStrictProblems } from "../src/output-schema/strict-problems.ts";
import type { Schema } from "../src/output-schema/walk.ts";

// A fifth: each run sets up a checker of schemas, which takes 40 ms.
const runs = { numRuns: Math.ceil(Number(process.env.FUZZ_RUNS ?? 200) / 5) };

async function load(schema: unknown) {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  writeFileSync(join(directory.path, "schema.json"), typeof schema === "string" ? schema : JSON.stringify(schema));
  return loadOutputSchema("schema.json", directory.path);
}

const refusal = async (schema: unknown): Promise<string> => {
  const error = await load(schema).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommandError);
  expect((error as CommandError).exit).toBe("usage");
  return (error as CommandError).message;
};

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });
const text = { type: "string" };

describe("a schema file", () => {
  test("that is not there, not JSON or no object is refused by name", async () => {
    expect(() => loadOutputSchema("nowhere.json", "/nonexistent")).toThrow(/nowhere\.json cannot be read: ENOENT/);
    expect(await refusal("{ not json")).toContain("schema.json is not JSON");
    expect(await refusal([1])).toContain("expected a JSON object, got a list");
    expect(await refusal("true")).toContain("got a boolean");
  });

  test("that is not valid JSON Schema is refused with the location", async () => {
    expect(await refusal(object({ a: { type: "strnig" } }))).toMatch(
      /not a valid JSON Schema:\n {2}\/properties\/a\/type /,
    );
    expect(await refusal(object({ a: { type: "string", pattern: "(" } }))).toContain("not a valid JSON Schema");
    expect(await refusal({ ...object({}), $schema: "http://json-schema.org/draft-04/schema#" })).toContain("/$schema");
  });

  test("may have a byte order mark, an id and either draft", async () => {
    const draft7 = { $schema: "http://json-schema.org/draft-07/schema#", $id: "urn:x", ...object({ a: text }) };
    const { strict } = await load(`\ufeff${JSON.stringify(draft7)}`);
    expect(Object.keys(strict)).toEqual(["type", "properties", "required", "additionalProperties"]);
  });
});

describe("what strict providers refuse", () => {
  test.each([
    ["oneOf", { a: { oneOf: [text, { type: "null" }] } }],
    ["allOf", { a: { allOf: [text] } }],
    ["not", { a: { type: "string", not: { const: "x" } } }],
    ["if", { a: { type: "object", if: {} } }],
    ["patternProperties", { a: { type: "object", patternProperties: { "^x": text } } }],
    ["dependentRequired", { a: { type: "object", dependentRequired: { x: ["y"] } } }],
    ["unevaluatedProperties", { a: { type: "object", unevaluatedProperties: false } }],
    ["additionalProperties", { a: { type: "object", additionalProperties: text } }],
    ["prefixItems", { a: { type: "array", items: text, prefixItems: [text] } }],
    ["contains", { a: { type: "array", items: text, contains: text } }],
  ])("%s is named with its location", (keyword, properties) => {
    expect(findStrictProblems(object(properties))).toEqual([
      expect.stringMatching(
        new RegExp(`^/properties/a/${keyword}: .*${keyword === "additionalProperties" ? "" : keyword}`),
      ),
    ]);
  });

  test.each([
    [{ type: "array", items: text }, "/type"],
    [{ anyOf: [object({}), object({ a: text })] }, "/anyOf"],
    [{ $ref: "#/$defs/a", $defs: { a: object({}) } }, "/$ref"],
    [object({ a: { $ref: "https://example.com/a.json" } }), "/properties/a/$ref"],
    [object({ a: { $ref: "#/$defs/b" } }), "/properties/a/$ref"],
    [object({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { $ref: "#/$defs/b" } } }), "/properties/a/$ref"],
    [object({ a: { description: "anything" } }), "/properties/a"],
    [object({ a: true }), "/properties/a"],
    [object({ a: { type: "array" } }), "/properties/a/items"],
    [object({ a: { type: "array", items: [text] } }), "/properties/a/items"],
  ])("%j is refused at its location", (schema, location) => {
    expect(findStrictProblems(schema)[0]).toMatch(new RegExp(`^${location.replaceAll("$", "\\$")}: `));
  });

  test("a property may be called like a keyword", () => {
    expect(findStrictProblems(object({ oneOf: text, not: object({ allOf: text }) }))).toEqual([]);
  });

  test("all problems are reported at once", async () => {
    const message = await refusal(object({ a: { oneOf: [text] }, b: { type: "array", items: { not: text } } }));
    expect(message).toContain("/properties/a/oneOf");
    expect(message).toContain("/properties/b/items/not");
  });
});

describe("the strict form", () => {
  test("closes objects, requires every property and lets optional ones be null", () => {
    const schema = object(
      {
        name: text,
        age: { type: "integer", minimum: 0, default: 3 },
        mood: { enum: ["good", "bad"] },
        kind: { const: "x" },
        pet: { $ref: "#/$defs/pet", description: "a pet" },
        id: { anyOf: [text, { type: "integer" }] },
      },
      {
        required: ["name"],
        $defs: { pet: object({ name: { type: "string", minLength: 1 } }, { required: ["name"] }) },
      },
    );
    expect(strictForm(schema)).toEqual({
      type: "object",
      properties: {
        name: text,
        age: { type: ["integer", "null"], minimum: 0 },
        mood: { type: ["string", "null"], enum: ["good", "bad", null] },
        kind: { type: ["string", "null"], enum: ["x", null] },
        pet: { anyOf: [{ $ref: "#/$defs/pet" }, { type: "null" }] },
        id: { anyOf: [text, { type: "integer" }, { type: "null" }] },
      },
      required: ["name", "age", "mood", "kind", "pet", "id"],
      additionalProperties: false,
      $defs: {
        pet: { type: "object", properties: { name: text }, required: ["name"], additionalProperties: false },
      },
    });
  });
});

describe("an answer", () => {
  const schema = object(
    {
      name: text,
      note: text,
      score: { type: ["number", "null"] },
      "odd name/%": object({ inner: text }),
      list: { type: "array", items: object({ a: text, b: text }, { required: ["a"] }) },
    },
    { required: ["name"], additionalProperties: false },
  );

  test("that satisfies the schema is kept to the letter", async () => {
    const { answer } = await load(schema);
    const message = '{ "name": "x",\n "score": null }';
    expect(await answer.check(message)).toEqual({ ok: true, message });
  });

  test("loses the nulls that stand for absent properties, and only those", async () => {
    const { answer } = await load(schema);
    const message = JSON.stringify({
      name: "x",
      note: null,
      score: null,
      "odd name/%": { inner: null },
      list: [{ a: "1", b: null }],
    });
    expect(await answer.check(message)).toEqual({
      ok: true,
      message: '{"name":"x","score":null,"odd name/%":{},"list":[{"a":"1"}]}',
    });
  });

  test("among several cases loses the nulls of the case that is meant", async () => {
    const cases = [
      object({ kind: { const: "a" }, x: text }, { required: ["kind"] }),
      object({ kind: { const: "b" }, x: { type: ["string", "null"] } }, { required: ["kind", "x"] }),
    ];
    const { answer } = await load(object({ case: { anyOf: cases } }));
    expect(await answer.check('{"case":{"kind":"a","x":null}}')).toEqual({
      ok: true,
      message: '{"case":{"kind":"a"}}',
    });
    expect(await answer.check('{"case":{"kind":"b","x":null}}')).toMatchObject({ ok: true, message: /"x":null/ });
  });

  test("in a schema that refers to itself is followed all the way down", async () => {
    const tree = object({ value: text, next: { $ref: "#" } }, { required: ["value"] });
    const { answer } = await load(tree);
    expect(await answer.check('{"value":"a","next":{"value":"b","next":null}}')).toEqual({
      ok: true,
      message: '{"value":"a","next":{"value":"b"}}',
    });
  });

  test.each([
    ["a language", '```json\n{"name":"x"}\n```'],
    ["none", '\n```\n{"name":"x"}\n```\n'],
    ["tildes and spaces", '~~~ JSON \r\n{"name":"x"}\n  ~~~'],
  ])("in a code block with %s is taken out of it", async (_, message) => {
    const { answer } = await load(schema);
    expect(await answer.check(message)).toEqual({ ok: true, message: '{"name":"x"}' });
  });

  test.each([
    ["Sure! {}", "it is not JSON"],
    ["```json\n{\n```", "it is not JSON"],
    ["```json\n{}\n```", "/ must have required property 'name'"],
    ["{}", "/ must have required property 'name'"],
    ['{"name":1}', "/name must be string"],
    ['{"name":"x","extra":1}', "/ must NOT have additional properties (extra)"],
  ])("%s is refused with the reason", async (message, problem) => {
    const { answer } = await load(schema);
    expect(await answer.check(message)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("by the strict form always satisfies the schema behind it", async () => {
    const ajv = new Ajv({ strict: false });
    await fc.assert(
      fc.asyncProperty(schemas, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), async (made, dice) => {
        expect(findStrictProblems(made)).toEqual([]);
        const strict = strictForm(made);
        const value = instanceOf(strict, () => Number(dice.next().value));
        expect(ajv.validate(strict, value)).toBe(true);
        const { answer } = await load(made);
        const checked = await answer.check(JSON.stringify(value));
        expect(checked).toMatchObject({ ok: true });
        expect(ajv.validate(made, JSON.parse((checked as { message: string }).message))).toBe(true);
      }),
      runs,
    );
  });
});

/** Object schemas with optional, nullable, chosen and nested properties. */
const { root: schemas } = fc.letrec<{ root: Schema; any: Schema }>((tie) => ({
  root: fc
    .dictionary(fc.string({ unit: "grapheme-ascii", maxLength: 6 }), fc.tuple(tie("any"), fc.boolean()), { maxKeys: 4 })
    .map((properties) => ({
      type: "object",
      properties: Object.fromEntries(Object.entries(properties).map(([name, [part]]) => [name, part])),
      required: Object.entries(properties).flatMap(([name, [, required]]) => (required ? [name] : [])),
    })),
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Schema>(
      text,
      { type: "integer" },
      { type: ["string", "null"] },
      { enum: ["a", 1] },
      { const: "c" },
    ),
    tie("any").map((items): Schema => ({ type: "array", items })),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((anyOf): Schema => ({ anyOf })),
    tie("root"),
  ),
}));

function instanceOf(schema: Schema, roll: () => number): unknown {
  const pick = <T>(values: T[]): T => values[Math.min(values.length - 1, Math.floor(roll() * values.length))] as T;
  if (Array.isArray(schema.anyOf)) return instanceOf(pick(schema.anyOf as Schema[]), roll);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return pick(schema.enum);
  switch (Array.isArray(schema.type) ? pick(schema.type) : schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties as Schema).map(([name, part]) => [name, instanceOf(part as Schema, roll)]),
      );
    case "array":
      return Array.from({ length: pick([0, 1, 2]) }, () => instanceOf(schema.items as Schema, roll));
    case "integer":
      return pick([0, 7]);
    case "null":
      return null;
    default:
      return pick(["", "text"]);
  }
}
