import fc from "fast-check";
import { expect, test } from "vitest";
import { findImports } from "./imports.ts";
import { viewSource } from "./source.ts";

/** Writes `$` as `§`, so that the test itself holds no template expression. */
const withHoles = (text: string) => text.replaceAll("§", "$");

const squeeze = (text: string) => text.replace(/\s+/g, " ").trim();

test("comments, strings, templates and regular expressions are distinguished", () => {
  const source = withHoles(
    'const a = "x // {"; // why {\nconst b = /[/"{]/g; /* { */ const c = `t §{a ? `in §{{ d: 1 }.d}` : "}"} {`;',
  );
  const { code, comments } = viewSource(source);
  expect(squeeze(comments)).toBe("// why { /* { */");
  expect(squeeze(code).replaceAll(" ", "")).toBe('consta="";constb=/g;constc=`{a?`{{d:1}.d}`:""}`;');
});

test("a slash after a value divides", () => {
  expect(squeeze(viewSource("const half = total / 2; // or\nconst x = (a) / b; const y = /it's/;").comments)).toBe(
    "// or",
  );
});

test("views keep every line where it is and never throw", () => {
  const piece = fc.constantFrom(...withHoles("` §{ } { ' \" / // /* */ \\ \n ( ) a = return").split(" "), "\n");
  const text = fc.oneof(
    fc.array(piece).map((pieces) => pieces.join(" ")),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(text, (source) => {
      const { code, comments } = viewSource(source);
      expect([code.length, comments.length]).toEqual([source.length, source.length]);
      expect(code.split("\n").length).toBe(source.split("\n").length);
      findImports(source);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("imports of every kind are found, and quoted ones are not", () => {
  const source = [
    'import a, { type B } from "one";',
    'import type { C } from "two";',
    'export * from "three";',
    'export type { D } from "four";',
    'import "five";',
    'const e = await import("six");',
    'type F = import("seven").F;',
    'import {\n  g,\n} from\n  "eight";',
    'import type from "nine";',
    '// import x from "no";',
    "const text = 'import y from \"no\"';",
    'object.import("no");',
    'export const from = "no";',
  ].join("\n");
  const kinds = Object.fromEntries(findImports(source).map(({ specifier, kind }) => [specifier, kind]));
  expect(kinds).toEqual({
    one: "static",
    two: "type",
    three: "static",
    four: "type",
    five: "static",
    six: "dynamic",
    seven: "dynamic",
    eight: "static",
    nine: "static",
  });
});
