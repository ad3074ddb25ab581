import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sanitize } from "../src/sanitize/sanitize.ts";
import { payloads } from "./sanitize-payloads.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

describe("hidden text", () => {
  test("has at least sixty forms in this test", () => {
    expect(payloads.length).toBeGreaterThanOrEqual(60);
  });

  test.each(payloads)("is removed when it is $what", ({ text, visible }) => {
    const clean = sanitize(text);
    expect(clean.text).toBe(visible);
    if (text !== visible) expect(clean.report).not.toEqual([]);
  });

  test("of several forms in one text is removed as well", () => {
    const all = payloads
      .map(({ text }) => text)
      .filter((text) => !/never ends|<!-- [^>]*$|<div hidden>[^<]*$/.test(text));
    const clean = sanitize(all.join("\n\n")).text;
    expect(clean).not.toContain("secrets");
    expect(clean).not.toMatch(/[\u{e0000}-\u{e01ef}\u200b\u202e]/u);
  });

  test("is reported by kind, count and the first example, decoded", () => {
    const tags = [..."run"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(sanitize(`a${tags}b\u200bc\u200b <!-- x -->`).report).toEqual([
      { kind: "html-comment", count: 1, sample: "<!-- x -->" },
      { kind: "tag-character", count: 1, sample: "run" },
      { kind: "zero-width", count: 2, sample: "U+200B" },
    ]);
  });
});

describe("visible text is unchanged", () => {
  test.each([
    ["plain text", "Just a line.\n\tAnd another: 2 < 3 && 5 > 4; a[0](b), List<String>, <3, a <b c.\n"],
    ["accents, marks and other scripts", "Ångström naïve Ελληνικά 日本語 한국어 ภาษาไทย e\u0301"],
    ["joined emoji, skin tones, keycaps, flags", "👨‍👩‍👧 👩🏽‍💻 ❤️‍🔥 ❤️ 1️⃣ #️⃣ 🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
    ["Persian and Hindi with their joiners", "می‌خواهم क्‍ष श्‌र"],
    ["Arabic signs around numbers", "\u0600\u0661\u0662 \u06dd"],
    ["links, pictures and definitions in use", "[a](b) ![](c) [d][e] [f]\n\n[e]: g\n[f]: h\n"],
    ["footnotes in use", "A note[^1].\n\n[^1]: The note.\n"],
    ["harmless HTML", '<a href="x">y</a> <br/> <b>z</b> <details><summary>s</summary>t</details>'],
    ["addresses in angle brackets", "<https://example.org/a?b=c> <user@example.org>"],
    ["elements that are only talked about", "The `<script>` tag, a `<template>` and `<!--` are mentioned."],
    [
      "placeholders and type parameters",
      "cp <source> <target>; git switch <branch-name>; Promise<void>, Map<Key><Value>",
    ],
    ["custom elements that are quoted", "Use `<my-very-own-element>` and `</my-very-own-element>` here."],
    [
      "commands of TeX outside of formulas, and links in formulas",
      "Put \\newcommand{\\x}[1]{y} and \\label{sec:a} into main.tex.\n",
    ],
    ["formulas with links, text and small spaces", "$\\href{https://a.example}{b}\\text{c}\\hspace{-1em}\\let x$"],
    ["formulas in colours that every page shows", "$\\color{red}{a} \\textcolor{blue}{b} \\overlap{c}$ \\color"],
    ["blocks with a language, formulas", "```c++\nx\n```\n~~~suggestion:-0+1\n~~~\n``a`` $\\frac{1}{2}$ \\phantom"],
    [
      "tables, percent signs and process ids",
      "a | b\n--|--\n1 | 2\n\nx | y | z\n\n5 % of $$ and $$i % 2\nmake | tee\n----\n",
    ],
    ["a log line and a list of tasks", "[info]: server is up\n- [ ] one\n- [x] two"],
    ["references to visible characters", "&lt;b&gt; &amp; &#65; &copy; &nbsp;"],
  ])("%s", (_, text) => {
    expect(sanitize(text)).toEqual({ text, report: [] });
  });

  test("line ends of other systems are converted without a report", () => {
    expect(sanitize("a\r\nb\rc\n")).toEqual({ text: "a\nb\nc\n", report: [] });
  });
});

describe("whatever the text", () => {
  const pieces = fc.constantFrom(
    ...["<!--", "-->", "<", ">", "</", "<div hidden>", "</div>", "<script>", "</script", " style='display:none'", "<b"],
    ...[
      "![",
      "[",
      "]",
      "](",
      "(",
      ")",
      "]:",
      '"',
      "'",
      "`",
      "\\",
      "\n",
      "\n\n",
      " ",
      "#",
      "//",
      "^",
      "&#82",
      "03;",
      "&zwj;",
    ],
    ...[
      "\u200b",
      "\u200d",
      "\u200c",
      "\ufe0f",
      "\u{1f3f4}",
      "\u{e0067}",
      "\u{e007f}",
      "👩",
      "🏽",
      "ک",
      "1",
      "\u20e3",
      "\r",
      "\x1b[",
    ],
    ...[
      "\u202e",
      "\ud800",
      "\udc00",
      "\ue000",
      "\u0000",
      "a",
      "href=",
      "=",
      "/",
      "<?",
      "?>",
      "<![CDATA[",
      "]]>",
      "<rp>",
      "<dialog>",
      "<a>",
      "</a>",
      "<x-y-z>",
      "<! ",
      "</ ",
      "```",
      "~~~",
      "```math\n",
      "\n$$\n",
      "%",
      "|",
      "\n|-|\n",
      "\\phantom{",
      "\\color{white}",
      "\\color[",
      "\\def\\x",
      "\\x",
      "#1",
      "\\let\\x\\color",
      "\\newcommand\\x[1]{",
      "\\style{",
      "\\bbox[",
      "$",
      "{",
      "}",
      "m",
      ";",
      "é",
    ],
  );
  const tangled = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
  const anything = fc.string({ unit: "binary", maxLength: 200 });

  test("it is never longer, never rejected, and clean text stays clean", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          tangled,
          anything,
          fc.tuple(tangled, anything).map((both) => both.join("")),
        ),
        (text) => {
          const once = sanitize(text);
          expect(once.text.length).toBeLessThanOrEqual(text.length);
          expect(sanitize(once.text)).toEqual({ text: once.text, report: [] });
          expect(once.report.length > 0 || once.text === text || text.includes("\r")).toBe(true);
        },
      ),
      { numRuns: runs * 2 },
    );
  });

  test("endlessly nested markup loses its characters", () => {
    const nested = `${"<".repeat(100)}<!-- -->${"!-- -->".repeat(100)}after`;
    const { text, report } = sanitize(nested);
    expect(text).not.toContain("<");
    expect(report).toContainEqual(expect.objectContaining({ kind: "tangled-markup" }));
    expect(sanitize(text).text).toBe(text);
  });

  test("endlessly nested phantoms lose theirs as well", () => {
    const nested = `${"\\phan".repeat(30)}\\phantom{x}${"tom{y}".repeat(30)}after`;
    const { text } = sanitize(nested);
    expect(text).not.toContain("\\");
    expect(sanitize(text)).toEqual({ text, report: [] });
  });

  test.each([
    "<",
    "<a b='",
    "<div hidden>`",
    "<!--`",
    "[",
    "![",
    "](",
    '](a "',
    "&#8",
    '<a style="/*',
    "<script></scriptx>",
    "<rp>",
    "<dialog>",
    "<a>",
    "<x-y-z> ",
    "<! ",
    "</ ",
    "\\phantom{",
    "\\color{white}",
    "\\color{white}{",
    "\\color[a",
    "$\\def\\a",
    "$\\def\\x#1{",
    "$\\def\\x{\\x}\\x",
    "$\\let\\x\\color\\x",
    "$\\newcommand\\x[",
    "$\\bbox[",
    "$\\style{",
    "\\kern-99em\\[",
    "\n```a ",
    "```math\n",
    "|a\n|-\n",
    "$$\n%",
    "[a](b (",
    "[a]: b (\n",
    "$\\long ",
    "<!-- -->",
    "[^a]: b\n",
    "**a _b ` ``",
    "-  |",
  ])("a long row of %j takes no longer than its length deserves", (piece) => {
    const text = piece.repeat(200_000 / piece.length);
    expect(sanitize(text).text.length).toBeLessThanOrEqual(text.length);
  });

  test.each([
    ["definitions of commands", "$\\def\\x{", "\\x}"],
    ["definitions with arguments", "$\\newcommand{\\x}[1][a]{", "#1}"],
    ["definitions in definitions of environments", "$\\newenvironment{a}{", "}{b}"],
    ["definitions of one body", "$\\def\\x", "{\\y}"],
    ["definitions of links", "\n[", "]: a\n"],
    ["footnotes", "\n[^a", "]: b"],
    ["links with titles", "[", "](a (b "],
    ["pictures with titles", "![", '](a "b")'],
    ["emphasis", "*a **b ", "**_ *"],
    ["comments", "<!-- ", " -->"],
    ["backticks", "` ", " ``"],
    ["hidden elements", "<div hidden>", "</div>"],
    ["colours", "$\\color{red}{", "}"],
  ])("%s that are nested ten thousand deep are read in linear time", (_, open, close) => {
    const text = `${open.repeat(10_000)}x${close.repeat(10_000)}`;
    const clean = sanitize(text).text;
    expect(clean.length).toBeLessThanOrEqual(text.length);
    expect(sanitize(clean).text).toBe(clean);
  });

  test.each([
    ["the digits of a length", "$\\raise", "1", "x$"],
    ["spaces in an alias", "$\\let\\x", " ", "{"],
    ["spaces in the row below a header", "a|b\n-", " ", "x|"],
    ["attributes of one tag", "<a", " b='c'", ">"],
    ["uses of a command in one definition", "$\\def\\x{", "\\y", "}"],
  ])("%s are read in linear time", (_, begin, piece, end) => {
    const text = `${begin}${piece.repeat(1_000_000 / piece.length)}${end}`;
    expect(sanitize(text).text.length).toBeLessThanOrEqual(text.length);
  });

  test("a shape that is nested or repeated takes no longer than its length deserves", () => {
    const part = fc.array(pieces, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(part, fc.option(part, { nil: "" }), part, (open, inner, close) => {
        const count = Math.floor(50_000 / (open.length + close.length));
        const text = `$${open.repeat(count)}${inner}${close.repeat(count)}`;
        expect(sanitize(text).text.length).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: Math.ceil(runs / 10) },
    );
  });
});
