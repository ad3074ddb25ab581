import fc from "fast-check";
import { expect, test } from "vitest";
import { collectOutput, truncateForModel } from "../src/output.ts";
import { byteLength, estimateText } from "../src/state/tokens.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

test("output within the limit is kept whole, however it is cut into pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (pieces) => {
      const output = collectOutput(1_000_000);
      for (const piece of pieces) output.add(piece);
      expect(output.text()).toBe(pieces.join(""));
    }),
    runs,
  );
});

test("output beyond the limit keeps its beginning and its end and says how much is missing", () => {
  const output = collectOutput(100);
  for (let line = 0; line < 1_000; line += 1) output.add(`line ${line}\n`);
  expect(output.text()).toMatch(/^line 0\nline 1\n/);
  expect(output.text()).toMatch(/line 999\n$/);
  const [, missing] = /(\d+) characters of output left out/.exec(output.text()) ?? [];
  const all = Array.from({ length: 1_000 }, (_, line) => `line ${line}\n`).join("");
  expect(Number(missing)).toBe(all.length - 100);
});

test("the size in bytes is the size in UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(byteLength(text)).toBe(Buffer.byteLength(text));
    }),
    runs,
  );
});

test("the model's copy stays within its budget, is whole where it fits, and never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 2_000 }), fc.integer({ min: 1, max: 200 }), (text, tokens) => {
      const cut = truncateForModel(text, tokens);
      if (estimateText(text) <= tokens) {
        expect(cut).toBe(text);
        return;
      }
      expect(cut).toContain("tokens truncated…");
      expect(Buffer.from(cut).toString()).toBe(cut);
      expect(estimateText(cut)).toBeLessThan(tokens + 60);
    }),
    runs,
  );
});
