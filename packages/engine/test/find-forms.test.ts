import fc from "fast-check";
import { expect, test } from "vitest";
import { formFinder } from "../src/log/find-forms.ts";

const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "\u00e9", "\u{1f600}"), minLength: 2, maxLength: 12 });

test("a text is found to have one of the strings exactly if it has", () => {
  fc.assert(
    fc.property(
      fc.array(letters, { minLength: 1, maxLength: 8 }),
      fc.array(letters, { maxLength: 40 }),
      fc.boolean(),
      (forms, pieces, isPlanted) => {
        const at = Math.floor(pieces.length / 2);
        const text = [...pieces.slice(0, at), ...(isPlanted ? forms.slice(0, 1) : []), ...pieces.slice(at)].join("");
        expect(formFinder(forms)(text)).toBe(forms.some((form) => text.includes(form)));
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test("strings longer than a window can be are found", () => {
  const long = "0123456789abcdef".repeat(40);
  expect(formFinder([long])(`x${long}`)).toBe(true);
  expect(formFinder([long])(`x${long.slice(1)}`)).toBe(false);
});
