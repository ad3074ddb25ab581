import { expect, test } from "vitest";
import { diffRows, type Line, markdown, openPainter, plainLine, span, visible, wrapLine } from "../src/text/index.ts";

const shown = (rows: Line[]) => rows.map(plainLine);

test("Markdown becomes headings, lists, quotes, tables and code, each row within the width", () => {
  const text =
    "# Title\n\nSome **bold** and `code`, [docs](https://a.b/c).\n\n- one\n  - two\n1. three\n\n> quoted\n\n| a | b |\n|---|:-:|\n| x \\| y | **z** |\n\n```js\nlet a = 1;\n```";
  expect(shown(markdown(text, 60)).map((row) => row.trimEnd())).toEqual([
    "Title",
    "",
    "Some bold and code, docs (https://a.b/c).",
    "",
    "• one",
    "  • two",
    "1. three",
    "",
    "│ quoted",
    "",
    "a     │ b",
    "──────┼──",
    "x | y │ z",
    "",
    "  let a = 1;",
  ]);
});

test("words wrap between spaces, long words are divided, wide characters count twice, an address stays whole", () => {
  expect(shown(wrapLine([span("one two three")], { columns: 8 }))).toEqual(["one two ", "three"]);
  expect(shown(wrapLine([span("x".repeat(20))], { columns: 8 }))).toEqual(["xxxxxxxx", "xxxxxxxx", "xxxx"]);
  expect(shown(wrapLine([span("日本語日本語")], { columns: 8 }))).toEqual(["日本語日", "本語"]);
  const address = `https://example.com/${"a".repeat(40)}`;
  expect(shown(wrapLine([span(`see ${address} now`)], { columns: 20 }))).toEqual(["see ", `${address} `.trim(), "now"]);
});

test("a painted row has no control characters but colours, and no address that could end a link", () => {
  const painter = openPainter({ depth: "16", theme: "terminal", links: true });
  expect(painter.row([span(visible("a\u001b]52;c;eA==\u0007b\u001b[31mred\tx"))])).toBe(
    "a\\u001b]52;c;eA==\\u0007bred    x",
  );
  expect(painter.row([span("x\u001b[2J\u202e", { bold: true })])).toBe("\u001b[1mx�[2J�\u001b[0m");
  expect(painter.row([span("x", { link: "https://a/\u001b\\" })])).toBe("x");
  expect(painter.row([span("x", { link: "https://a/" })])).toBe("\u001b]8;;https://a/\u001b\\x\u001b]8;;\u001b\\");
  expect(openPainter({ depth: "none", theme: "terminal", links: false }).row([span("x", { color: "red" })])).toBe("x");
});

test("what does not fit of a line of a diff continues below its text, so that it never looks like a sign", () => {
  expect(shown(diffRows("-  sum + price", 10))).toEqual(["-  sum +", "   price"]);
  expect(shown(diffRows("+1234567 + 9", 10))).toEqual(["+1234567", "   + 9"]);
});
