// Where a patch is cut that is too large to be sent as a whole.
import { isUtf8 } from "node:buffer";
import { expect, test } from "vitest";
import { capPatch } from "../../src/repositories/index.ts";

const mebibyte = 1024 * 1024;

const fileOf = (name: string, line: string, bytes: number) =>
  `diff --git a/${name} b/${name}\n--- /dev/null\n+++ b/${name}\n${`+${line}\n`.repeat(bytes / (Buffer.byteLength(line) + 2))}`;

test("a patch of up to a mebibyte is left as it is", () => {
  const patch = Buffer.alloc(mebibyte, "+");
  expect(capPatch(patch)).toBe(patch);
  expect(capPatch(Buffer.alloc(0))).toHaveLength(0);
});

test("a larger one is cut before the first file that does not fit, also where lines look like headers", () => {
  const fitting = fileOf("a", "diff --git a/x b/x", mebibyte / 2);
  const patch = Buffer.from(`${fitting}${fileOf("b", "text", mebibyte)}${fileOf("c", "text", 100)}`);
  expect(capPatch(patch).toString()).toBe(fitting);
});

test.each([
  ["after a line", fileOf("a", "äöü", 2 * mebibyte), /\n$/],
  ["after a character, where there is no end of line", `diff --git a/a b/a\n+${"€".repeat(mebibyte)}`, /€$/],
])("a first file that is too large is cut %s", (_, text, end) => {
  const patch = Buffer.from(text);
  const cut = capPatch(patch);
  expect(cut.length).toBeLessThanOrEqual(mebibyte);
  expect(cut.length).toBeGreaterThan(mebibyte - 10);
  expect(patch.subarray(0, cut.length).equals(cut)).toBe(true);
  expect(isUtf8(cut)).toBe(true);
  expect(cut.toString()).toMatch(end);
});
