import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findLongFunctions, findOversize, findUnlistedOversize, listOversize } from "./sizes.ts";

const filler = (lines: number) => "  work();\n".repeat(lines);

test("files and functions are small, or say why not", () => {
  expect(findOversize()).toEqual([]);
});

test("the list of oversize functions and interfaces only gets shorter", () => {
  expect(findUnlistedOversize()).toEqual([]);
});

test("a new entry and a stale one are refused", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts": `// Long, with a reason.\nfunction work() {\n${filler(60)}}\nconst wide = (a: A, b: B, c: C, d: D): E => a;\n`,
    "packages/a/src/b.ts": `export interface Port {\n${Array.from("abcdefghi", (name) => `  ${name}(): void;\n`).join("")}}\n`,
    "checks/oversize.txt": "lines packages/a/src/a.ts work\nlines packages/a/src/gone.ts gone\n",
  });
  expect(findUnlistedOversize(planted.root)).toEqual([
    expect.stringContaining("methods packages/a/src/b.ts Port: make it smaller"),
    expect.stringContaining("parameters packages/a/src/a.ts wide: make it smaller"),
    expect.stringContaining("lines packages/a/src/gone.ts gone: no longer there"),
  ]);
});

test.each([
  ["function work(a, b, c, d) {}", "work"],
  ["const work = async <T>(a: T, b: B, c: (d: D, e: E) => F, g: { h: H, i: I }) => {};", "work"],
  ["class A { work(a: A, b: B, c: C, ...d: D[]): Promise<Map<E, F>> { return a; } }", "work"],
  ["class A { constructor(a: A, b: B, c: C, d = 1) { super(a); } }", "constructor"],
  ["interface A { work(a: A, b: B, c: C, d?: D): void; }", "work"],
  ["interface A { work: (a: A, b: B, c: C, d: D) => void; }", "work"],
])("%s has too many parameters", (text, name) => {
  using planted = plantRepository({ "packages/a/src/a.ts": text });
  expect(listOversize(planted.root)).toEqual([`parameters packages/a/src/a.ts ${name}`]);
});

test("calls, three parameters and an interface that explains its methods are fine", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts":
      "const a = b ? c(1, 2, 3, 4) : d(e, f, g, h);\nif (all(a, b, c, d)) { new E(1, 2, 3, 4); }\nfunction g(a: Map<A, B>, b: B, c: C) {}\n",
    "packages/a/src/b.ts": `/** One client. Its methods are those of the wire. */\nexport interface Port {\n${Array.from("abcdefghi", (name) => `  ${name}(): void;\n`).join("")}}\n`,
  });
  expect(findUnlistedOversize(planted.root)).toEqual([]);
});

test("a file of 401 lines is too long, a test may be", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts": filler(401),
    "packages/a/src/b.ts": filler(400),
    "packages/a/test/a.test.ts": filler(900),
  });
  expect(findOversize(planted.root)).toEqual([expect.stringContaining("packages/a/src/a.ts: 401 lines")]);
});

test.each([
  "export async function work(a: { b: string }): Promise<{ c: string }[]> {",
  "const work = async (a = {}) => {",
  "function work<A, B>(a: A): Map<A, { b: B }> | undefined {",
  "export const work = (a: (b: string) => void, c: number): Array<string> => {",
  "  async run<T extends { a: string }>(signal: AbortSignal): Promise<void> {",
  "  return new Promise((resolve) => {",
  "export function* steps(\n  a: string,\n  b: string,\n) {",
])("a long function opening with %j needs a reason", (opening) => {
  const long = `${opening}\n${filler(60)}}\n`;
  expect(findLongFunctions(long)).toMatchObject([{ isExplained: false }]);
  expect(findLongFunctions(`before();\n// One table for all cases.\n${long}`)).toMatchObject([
    { line: 3, isExplained: true },
  ]);
  expect(findLongFunctions(`${opening}\n${filler(55)}}\n`)).toEqual([]);
});

test.each([
  "export const table = {",
  "interface Wide {",
  "if (a) {",
  "for (const a of b) {",
  "class Wide {",
  "const a = b({",
  "switch (a) {",
])("%j opens no function", (opening) => {
  expect(findLongFunctions(`${opening}\n${filler(80)}}\n`)).toEqual([]);
});
