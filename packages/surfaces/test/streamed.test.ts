import { scrubber } from "@agentcli/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { streamedText } from "../src/streamed.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

/** Few letters, so that secrets overlap, contain and begin each other. */
const word = fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 6, maxLength: 9 });
const pieces = fc.array(fc.oneof(word, fc.string({ unit: fc.constantFrom("a", "b", " ", "x"), maxLength: 5 })));

test("however a text is split, the shown text is the scrubbed text and never more", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), pieces, (values, cut) => {
      const scrub = scrubber(values.map((value) => ({ name: "SECRET", value })));
      const whole = scrub(cut.join(""));
      const text = streamedText(scrub);
      for (const piece of cut) {
        text.add(piece);
        expect(whole.startsWith(text.shown())).toBe(true);
      }
      text.rest(whole);
      expect(text.shown()).toBe(whole);
    }),
    { numRuns },
  );
});

test("only what could begin a secret is held back", () => {
  const text = streamedText(scrubber([{ name: "KEY", value: "correct horse battery" }]));
  expect(text.add("say cor")).toBe("say ");
  expect(text.add("rect horse b")).toBe("");
  expect(text.add("ut")).toBe("correct horse but");
  expect(text.add(" correct horse battery!")).toBe(" [REDACTED]!");
});
