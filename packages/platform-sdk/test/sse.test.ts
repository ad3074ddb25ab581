// Reading of event streams, cut anywhere.
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventReader, type ServerEvent } from "../src/sse.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);
const lineText = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
const ending = fc.constantFrom("\n", "\r\n", "\r");

const event = fc.record({
  id: fc.option(
    lineText.filter((text) => !text.includes("\0")),
    { nil: undefined },
  ),
  event: lineText.filter((text) => text !== ""),
  data: fc.array(lineText, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n")),
});

function encode({ id, event, data }: ServerEvent, end: string): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  return `${lines.join(end)}${end}${end}`;
}

/** Sizes of the pieces; what is left over is the last. */
function cut(bytes: Uint8Array, sizes: number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...pieces, bytes.subarray(start)];
}

const read = (pieces: Uint8Array[]): ServerEvent[] => {
  const reader = eventReader();
  return pieces.flatMap((piece) => reader.push(piece));
};

test("events come out as they were sent, whatever ends the lines and wherever the pieces are cut", () => {
  const sizes = fc.array(fc.nat({ max: 9 }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), ending, sizes, (events, end, pieces) => {
      const bytes = new TextEncoder().encode(events.map((one) => encode(one, end)).join(""));
      expect(read(cut(bytes, pieces))).toEqual(events);
    }),
    { numRuns },
  );
});

test("no bytes make the reader fail", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 10 }), (pieces) => {
      expect(Array.isArray(read(pieces))).toBe(true);
    }),
    { numRuns },
  );
});

const readText = (text: string) => read([new TextEncoder().encode(text)]);

test("comments, unknown fields and a byte order mark are passed over", () => {
  expect(readText("\uFEFF: hello\nretry: 5\nid:7\nevent:status\ndata:{}\n\n")).toEqual([
    { id: "7", event: "status", data: "{}" },
  ]);
});

test("an event without data is none, and one without a name is a message", () => {
  expect(readText("event: status\n\ndata: x\n\n")).toEqual([{ id: undefined, event: "message", data: "x" }]);
});

test("the last event counts only when the empty line behind it has come", () => {
  expect(readText("data: whole\n\ndata: half\n")).toHaveLength(1);
});

test("only one blank is taken off a value, and an id with a NUL is none", () => {
  expect(readText("id: a\0b\ndata:  x\n\n")).toEqual([{ id: undefined, event: "message", data: " x" }]);
});
