import fc from "fast-check";
import { expect, test } from "vitest";
import { openRepeatedEvents } from "../src/repeated-events.ts";
import { openSse } from "../src/sse.ts";
import { type Fields, fields, parseJson } from "../src/untrusted.ts";

const textOf = (event: Fields): unknown => {
  const { text } = fields(event.delta);
  return typeof text === "string" ? text : undefined;
};

type Seen = [text: unknown, index: unknown, number: unknown];

/** What a reader does: parses what is not repeated. */
function readAll(stream: string, borders: number[] = []): { seen: Seen[]; repeated: number } {
  const seen: Seen[] = [];
  let repeated = 0;
  const events = openRepeatedEvents({
    textOf,
    onText(text, first, number) {
      repeated += 1;
      seen.push([text, first.index, number ?? first.sequence_number]);
    },
  });
  const parser = openSse((data, name) => {
    const event = fields(parseJson(data));
    if (textOf(event) !== undefined) events.learn({ name, data, fields: event });
    seen.push([textOf(event), event.index, event.sequence_number]);
  }, events.skim);
  for (const chunk of cut(Buffer.from(stream), borders)) parser.push(chunk);
  parser.end();
  return { seen, repeated };
}

function cut(bytes: Buffer, borders: number[]): Buffer[] {
  const offsets = [0, ...borders.map((border) => border % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
}

function parseAll(stream: string): Seen[] {
  const seen: Seen[] = [];
  const parser = openSse((data) => {
    const event = fields(parseJson(data));
    seen.push([textOf(event), event.index, event.sequence_number]);
  });
  parser.push(Buffer.from(stream));
  parser.end();
  return seen;
}

const delta = (text: string, more: object = {}) =>
  JSON.stringify({ type: "content_block_delta", index: 0, ...more, delta: { type: "text_delta", text } });
const framed = (data: string, name = "content_block_delta") => `event: ${name}\ndata: ${data}\n\n`;

const [twoLines, notAnEvent] = ["data: ", ""].map(
  (prefix) => `data: {"index":0,\n${prefix}"delta":{"text":"a"}}\n\n`,
) as [string, string];

const data = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme" }).map((text) => delta(text)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.string(), fc.nat(), fc.string({ maxLength: 8 }))
      .map(([text, sequence_number, obfuscation]) => delta(text, { sequence_number, obfuscation })),
  },
  fc
    .tuple(fc.constantFrom("text", "text_delta", "index", "", '"', "\\", "\n", "\u2028"), fc.nat(2))
    .map(([text, index]) => delta(text, { index })),
  fc.constantFrom(
    '{"delta":{"text":"a","text":"b"},"index":1}',
    '{"index":0,"delta":{"text":"\\u0061"},"note":"a"}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"index":2,"x":"y"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","text":"c"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","b"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":","a"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\\\"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"tab\there"}}',
    '{"type":"content_block_delta","index":0,"sequence_number":1.5,"delta":{"text":"a"}}',
    '{"type":"content_block_delta","index":0,"sequence_number":12,"delta":{"text":"12"},"sequence_number":13}',
    '{"type":"content_block_delta","index":0,"sequence_number":012,"obfuscation":"a","delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_delta","index":0,"sequence_number":9007199254740993,"delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_delta","index":0,"obfuscation":"a\\"b","delta":{"type":"text_delta","text":"a"}}',
  ),
  fc.json(),
);
const frame = fc.oneof(
  { weight: 8, arbitrary: data.map((text) => framed(text)) },
  data.map((text) => `data: ${text}\n\n`),
  data.map((text) => `data:${text}\r\n\r\n`),
  data.map((text) => `id: 7\nevent: content_block_delta\ndata: ${text}\n\n`),
  fc.constantFrom(": a comment\n", "event: content_block_delta\n", "\n", "data: {\ndata: }\n\n", twoLines, notAnEvent),
);

test("events are read as if each was parsed, whatever is in them and however the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 5 }), (frames, borders) => {
      expect(readAll(frames.join(""), borders).seen).toEqual(parseAll(frames.join("")));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test("two events that are JSON only together are none", () => {
  const whole = delta("a");
  const [before, after] = whole.split('"a"') as [string, string];
  const broken = ["a\\\\", ',"b'].map((raw) => `${before}"${raw}"${after}`.replace("\\\\", "\\"));
  const stream = [whole, whole, ...broken, whole].map((text) => framed(text)).join("");
  expect(parseAll(stream).map(([text]) => text)).toEqual(["a", "a", undefined, undefined, "a"]);
  expect(readAll(stream).seen).toEqual(parseAll(stream));
});

test("deltas are parsed once, also where they have a number and a padding of their own", () => {
  const texts = Array.from({ length: 100 }, (_, index) => `piece ${index} "quoted"\n`);
  expect(readAll(texts.map((text) => framed(delta(text))).join("")).repeated).toBe(99);
  expect(readAll(texts.map((text) => `data: ${delta(text)}\n\n`).join("")).repeated).toBe(99);
  const numbered = texts.map((text, index) =>
    framed(delta(text, { sequence_number: index + 1, obfuscation: "x".repeat(index % 7) })),
  );
  expect(readAll(numbered.join("")).repeated).toBe(99);
});

test("events that never repeat are not learned again and again", () => {
  const texts = Array.from({ length: 100 }, (_, index) => delta(`piece ${index}`, { stamp: index }));
  expect(readAll(texts.map((text) => framed(text)).join("")).repeated).toBe(0);
});
