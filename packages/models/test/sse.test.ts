import fc from "fast-check";
import { expect, test } from "vitest";
import { openSse } from "../src/sse.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

type Event = [data: string, name: string];

function parse(chunks: Buffer[]): Event[] {
  const events: Event[] = [];
  const sse = openSse((data, name) => events.push([data, name]));
  for (const chunk of chunks) sse.push(chunk);
  sse.end();
  return events;
}

const parseWhole = (text: string): Event[] => parse([Buffer.from(text)]);

function splitAt(bytes: Buffer, borders: number[]): Buffer[] {
  const offsets = [0, ...borders.map((border) => border % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
}

test("names, comments, multi-line data and all line endings are parsed", () => {
  const stream = "\uFEFF: hello\nevent: greet\ndata: a\ndata:b\nid: 7\n\nretry: 3\rdata:  c\r\r\ndata: d\r\n\r\n\n";
  expect(parseWhole(stream)).toEqual([
    ["a\nb", "greet"],
    [" c", ""],
    ["d", ""],
  ]);
});

test("an event without its blank line counts, one with an incomplete last line does not", () => {
  expect(parseWhole("data: whole\n")).toEqual([["whole", ""]]);
  expect(parseWhole("data: cut")).toEqual([]);
});

test("an event without data is skipped with its name", () => {
  expect(parseWhole("event: lonely\n\ndata: x\n\n")).toEqual([["x", ""]]);
});

const line = fc.oneof(
  fc.constantFrom(
    "data: {}",
    "data:x",
    "data",
    "event: e",
    ": c",
    "",
    "",
    "id: 1",
    "data: ☃👩‍🚀",
    "\uFEFFdata: y",
    ":",
  ),
  fc.string({ unit: "grapheme" }),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")))
  .map((lines) => lines.map(([text, end]) => text + end).join(""));

test("any chunking of any stream gives the same events", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), (text, borders) => {
      expect(parse(splitAt(Buffer.from(text), borders))).toEqual(parseWhole(text));
    }),
    { numRuns },
  );
});

test("a stream byte by byte gives the same events", () => {
  fc.assert(
    fc.property(stream, (text) => {
      expect(parse([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(parseWhole(text));
    }),
    { numRuns },
  );
});

test("written events are read back with any data", () => {
  const data = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !/[\r\n\ud800-\udfff]/.test(text));
  fc.assert(
    fc.property(fc.array(data), (all) => {
      const written = all.map((text) => `data: ${text}\n\n`).join("");
      expect(parseWhole(written).map(([text]) => text)).toEqual(all);
    }),
    { numRuns },
  );
});

test("no bytes make the parser throw", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
      parse(chunks.map((chunk) => Buffer.from(chunk)));
    }),
    { numRuns },
  );
});
