import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFrontMatter } from "../src/front-matter/front-matter.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const valuesOf = (front: string) => {
  const matter = readFrontMatter(`---\n${front}\n---\nbody\n`);
  return matter.kind === "matter" ? { ...matter.values } : matter;
};

describe("front matter", () => {
  test.each([
    ["plain text, colons and all", "a: one: two # said\nb: http://x/#y", { a: "one: two", b: "http://x/#y" }],
    ["quoted text", `a: "x \\"y\\" \\u00e9\\n" # c\nb: 'it''s'\n"c d": 1`, { a: 'x "y" é\n', b: "it's", "c d": 1 }],
    ["text over lines", 'a: one\n  two\n  three\nb: "four\n  five"', { a: "one two three", b: "four five" }],
    [
      "literal and folded blocks",
      "a: |\n  one\n    two\n\n  three\nb: >-\n  four\n  five\n\n  six\n",
      { a: "one\n  two\n\nthree\n", b: "four five\nsix" },
    ],
    [
      "truth, nothing and numbers",
      "a: true\nb: false\nc:\nd: ~\ne: -3\nf: 1.5\ng: yes\nh: 007x",
      { a: true, b: false, c: null, d: null, e: -3, f: 1.5, g: "yes", h: "007x" },
    ],
    [
      "lists",
      "a:\n  - x\n  - 'y'\nb:\n- 1\n- two\nc: [p, \"q, r\", 3]\nd: []",
      { a: ["x", "y"], b: [1, "two"], c: ["p", "q, r", 3], d: [] },
    ],
    [
      "maps in maps and lists",
      "a:\n  b:\n    c: 1\n  d: 2\ne:\n  - f: 1\n    g: 2\n  - h",
      { a: { b: { c: 1 }, d: 2 }, e: [{ f: 1, g: 2 }, "h"] },
    ],
    [
      "globs, which are no YAML",
      "a: *.ts\nb: {x,y}/*.js\nc: [ab]*.c\nd: !x",
      { a: "*.ts", b: "{x,y}/*.js", c: "[ab]*.c", d: "!x" },
    ],
    ["comments and empty lines", "# first\n\na: 1\n\n  # inner\nb: 2 # last", { a: 1, b: 2 }],
    ["Windows line ends", "a: 1\r\nb: 2\r", { a: 1, b: 2 }],
  ])("understands %s", (_, front, values) => {
    expect(valuesOf(front)).toEqual(values);
  });

  test.each([
    ["a line without a key", "a: 1\nwhat is this\n", 3, "expected"],
    ["a key that comes twice", "a: 1\na: 2", 3, "duplicate key"],
    ["text that does not end", 'b: 1\na: "x', 3, "does not end"],
    ["text behind a quoted one", "a: 'x' y", 2, "does not end"],
    ["tabs as indentation", "a:\n\tb: 1", 3, "tab"],
    ["a map in braces", "a: {b: 1}", 2, "braces"],
    ["an entry that is indented by itself", "a:\n  b: 1\n    c: 2\n d: 3", 5, "expected"],
    ["endless depth", Array.from({ length: 40 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"), 19, "deep"],
  ])("names the line of %s", (_, front, line, message) => {
    expect(valuesOf(front)).toEqual({ kind: "problem", line, message: expect.stringContaining(message) });
  });

  test("must be at the very start and closed", () => {
    expect(readFrontMatter("text\n---\na: 1\n---\n")).toEqual({ kind: "none" });
    expect(readFrontMatter("---\na: 1\n")).toEqual({ kind: "unclosed" });
    expect(readFrontMatter("---\na: 1\nb: 2\n---\n\nbody\n---\n")).toMatchObject({
      body: "\nbody\n---\n",
      lines: new Map([
        ["a", 2],
        ["b", 3],
      ]),
    });
  });

  test("of any shape is read or rejected, never thrown", () => {
    const piece = fc.constantFrom(..."ab:#-|>'\"[]{},\n\t *&!", "  ", ": ", "- ", "\n  ", "a: ", "__proto__: 1\n");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (front) => {
        expect(readFrontMatter(`---\n${front}\n---\n`).kind).toMatch(/matter|problem/);
      }),
      { numRuns: runs },
    );
  });
});
