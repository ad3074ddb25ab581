import fc from "fast-check";
import { expect, test } from "vitest";
import { openRepeatedEvents } from "../src/repeated-events.ts";
import { type Fields, fields, parseJson } from "../src/untrusted.ts";

const textOf = (event: Fields): unknown => {
  const { text } = fields(event.delta);
  return typeof text === "string" ? text : undefined;
};

/** What a reader does: parses what is not repeated. */
function readAll(lines: string[]): { texts: unknown[]; repeated: number } {
  const events = openRepeatedEvents(textOf);
  let repeated = 0;
  const texts = lines.map((line) => {
    const again = events.read(line);
    if (again) {
      repeated += 1;
      return [again.text, fields(again.first).index];
    }
    const event = fields(parseJson(line));
    if (textOf(event) !== undefined) events.learn(line, event);
    return [textOf(event), event.index];
  });
  return { texts, repeated };
}

const parseAll = (lines: string[]): unknown[] =>
  lines.map((line) => {
    const event = fields(parseJson(line));
    return [textOf(event), event.index];
  });

const delta = (text: string, index: unknown = 0) =>
  JSON.stringify({ type: "content_block_delta", index, delta: { type: "text_delta", text } });

const line = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme" }).map((text) => delta(text)) },
  fc
    .tuple(fc.constantFrom("text", "text_delta", "index", "", '"', "\\", "\n", "\u2028"), fc.nat(2))
    .map(([text, index]) => delta(text, index)),
  fc.constantFrom(
    '{"delta":{"text":"a","text":"b"},"index":1}',
    '{"index":0,"delta":{"text":"\\u0061"},"note":"a"}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"index":2,"x":"y"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","text":"c"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"tab\there"}}',
  ),
  fc.json(),
);

test("events are read as if each was parsed, whatever the text of one has in it", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      expect(readAll(lines).texts).toEqual(parseAll(lines));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
  );
});

test("deltas are parsed once, and events that never repeat are not learned again and again", () => {
  const texts = Array.from({ length: 100 }, (_, index) => delta(`piece ${index} "quoted"\n`));
  expect(readAll(texts).repeated).toBe(99);
  expect(readAll(texts.map((text, index) => text.replace("{", `{"number":${index},`))).repeated).toBe(0);
});
