import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scrubber } from "../src/index.ts";
import { scrubJson } from "../src/log/scrub.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
const value = 'sk-Very/Secret+"Value"=ä';
const scrub = scrubber([{ name: "API_KEY", value }]);

const hexOf = (text: string): string[] => Buffer.from(text).toString("hex").match(/../g) ?? [];
const escaped = (text: string): string =>
  text.replace(/./g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a known secret", () => {
  test.each([
    ["as it is", value],
    ["in JSON", JSON.stringify({ value })],
    ["in JSON in JSON", JSON.stringify(JSON.stringify({ value }))],
    ["in a URL", `https://example.com/?key=${encodeURIComponent(value)}`],
    ["in hex", Buffer.from(value).toString("hex")],
    ["in upper-case hex", Buffer.from(value).toString("hex").toUpperCase()],
    ["in hex with colons", hexOf(value).join(":")],
    ["in hex with blanks", hexOf(value).join(" ").toUpperCase()],
    [
      "with every byte as in a URL",
      hexOf(value)
        .map((byte) => `%${byte}`)
        .join(""),
    ],
    [
      "with every byte as in a string literal",
      hexOf(value)
        .map((byte) => `\\x${byte}`)
        .join(""),
    ],
    ["with every character escaped", escaped(value)],
    ["in base32", "ONVS2VTFOJ4S6U3FMNZGK5BLEJLGC3DVMURD3Q5E"],
    ["in base64", Buffer.from(value).toString("base64")],
    ["in base64 for URLs", Buffer.from(value).toString("base64url")],
    ["in the middle of base64", Buffer.from(`user:${value}:rest`).toString("base64")],
  ])("is taken out %s", (_, text) => {
    expect(scrub(text)).toContain("[REDACTED]");
    expect(scrub(text)).not.toContain(value);
  });

  test("is removed from base64 at every alignment", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const text = Buffer.from(`${before}${value}${after}`).toString("base64");
        const left = Buffer.from(scrub(text).replace("[REDACTED]", ""), "base64").toString();
        expect(left).not.toContain(value.slice(2, -2));
      }),
      runs,
    );
  });

  test("is removed anywhere in a record, and nothing else changes", () => {
    const record = { a: [`x${value}y`, 1, null, true], b: { c: "plain" } };
    expect(scrubJson(record, scrub)).toEqual({ a: ["x[REDACTED]y", 1, null, true], b: { c: "plain" } });
  });
});

test("of two secrets the longer is recognised", () => {
  const both = scrubber([
    { name: "SHORT", value: "abcdefgh" },
    { name: "LONG", value: "abcdefgh-and-more" },
  ]);
  expect(both("abcdefgh-and-more abcdefgh")).toBe("[REDACTED] [REDACTED]");
});

test("without secrets every text is unchanged", () => {
  fc.assert(
    fc.property(fc.string(), (text) => scrubber([])(text) === text),
    runs,
  );
});
