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

// What `oathtool -v` prints of one key, and what it reads.
const base32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGE======";
const hex = "313233343536373839303132333435363738393031";
const asWritten = [
  base32,
  base32.replaceAll("=", ""),
  base32.toLowerCase(),
  "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ GE",
  "gezd gnbv gy3t qojq gezd gnbv gy3t qojq ge",
  "GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ-GE",
  hex,
  hex.toUpperCase(),
  hexOf("123456789012345678901").join(":"),
];

describe("a key of one-time passwords", () => {
  test.each(asWritten)("that is stored as %s is taken out in every form", (stored) => {
    const withKey = scrubber([{ name: "TOTP", value: stored }]);
    for (const text of asWritten) expect(withKey(`Key: ${text}`)).toMatch(/^Key: \[REDACTED\]=*$/);
  });

  test("is taken out as it is printed if the last character of what is stored has too few bits", () => {
    const withKey = scrubber([{ name: "TOTP", value: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PX" }]);
    const printed =
      "Hex secret: 48656c6c6f21deadbeef48656c6c6f21deadbe\nBase32 secret: JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PQ=";
    expect(withKey(printed)).toBe("Hex secret: [REDACTED]\nBase32 secret: [REDACTED]=");
  });

  test("is not looked for in other words: a short value, or one in another alphabet, has its own forms alone", () => {
    const short = scrubber([{ name: "WORD", value: "ABCDEFGH" }]);
    expect(short("abcdefgh 4142434445464748")).toBe("abcdefgh [REDACTED]");
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
