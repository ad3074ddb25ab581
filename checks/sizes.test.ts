import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findLongFunctions, findOversize } from "./sizes.ts";

const filler = (lines: number) => "  work();\n".repeat(lines);

test("files and functions are small, or say why not", () => {
  expect(findOversize()).toEqual([]);
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
  expect(findLongFunctions(`before();\n// One place for all cases.\n${long}`)).toMatchObject([
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
