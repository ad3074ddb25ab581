import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRules, type Value } from "../src/rules/parse.ts";
import { RulesError } from "../src/rules/rules-error.ts";

/** A value without its location. */
function plain(value: Value | undefined): unknown {
  switch (value?.kind) {
    case "list":
      return value.items.map(plain);
    case "string":
      return value.text;
    case "number":
    case "boolean":
      return value.value;
    default:
      return null;
  }
}

const parsedValue = (expression: string, before = ""): unknown =>
  plain(parseRules(`${before}\nf(${expression})`)[0]?.arguments[0]?.value);

function faultOf(text: string): string {
  try {
    parseRules(text);
  } catch (error) {
    if (error instanceof RulesError) return `${error.location.line}:${error.location.column}: ${error.message}`;
    throw error;
  }
  return "no fault";
}

describe("values", () => {
  test.each([
    [`"a"`, "a"],
    [`'a"b'`, 'a"b'],
    [`"a\\n\\t\\\\\\"\\x41\\u00e9\\101"`, 'a\n\t\\"AéA'],
    [`r"a\\n"`, "a\\n"],
    [`"""two\nlines "quoted" """`, 'two\nlines "quoted" '],
    [`'''it's'''`, "it's"],
    [`["a", ["b", "c"],]`, ["a", ["b", "c"]]],
    [`("a", "b")`, ["a", "b"]],
    [`("a",)`, ["a"]],
    [`("a")`, "a"],
    [`()`, []],
    [`[]`, []],
    [`True`, true],
    [`False`, false],
    [`None`, null],
    [`42`, 42],
    [`"a" + "b"`, "ab"],
    [`["a"] + ["b"]`, ["a", "b"]],
    [`[\n  "a", # a comment\n  "b"\n]`, ["a", "b"]],
    [`"a" \\\n + "b"`, "ab"],
  ])("%s", (expression, expected) => expect(parsedValue(expression)).toEqual(expected));

  test("constants are used by name, in lists, sums and format strings", () => {
    const before = `GIT = "git"\nALL = [GIT, "hub"]`;
    expect(parsedValue("GIT", before)).toBe("git");
    expect(parsedValue(`ALL + [GIT]`, before)).toEqual(["git", "hub", "git"]);
    expect(parsedValue(`f"{GIT}-{ GIT }{{}}"`, before)).toBe("git-git{}");
  });

  test("any string survives writing and parsing", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const written = `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
        expect(parsedValue(written)).toBe(text);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});

describe("calls", () => {
  test("keep their names, arguments and locations", () => {
    const calls = parseRules(`# rules\n\nfirst("a", b = "c")\n  second()  # after\n"documentation"\nthird(); fourth()`);
    expect(calls.map(({ name, line, column }) => [name, line, column])).toEqual([
      ["first", 3, 1],
      ["second", 4, 3],
      ["third", 6, 1],
      ["fourth", 6, 10],
    ]);
    expect(calls[0]?.arguments.map(({ name, value }) => [name, plain(value)])).toEqual([
      [null, "a"],
      ["b", "c"],
    ]);
  });

  test("an empty file has none", () => expect(parseRules("\n# nothing\n")).toEqual([]));
});

describe("errors name their location and what to do", () => {
  test.each([
    [`f("a"`, "1:6: expected , or ), found the end of the file"],
    [`f("a" "b")`, `1:7: expected , or ), found the string "b"`],
    [`\n f("a\n")`, `2:4: the string is not closed on its line; close it, or use """`],
    [`f("""a`, "1:3: the string is not closed"],
    [`f("\\q")`, "1:4: unknown escape \\q; write \\\\ for a backslash"],
    [`f("\\U00110000")`, "1:4: \\U00110000 is not a character"],
    [`f(git)`, "1:3: git is not defined; text needs quotation marks"],
    [`f(a="b", "c")`, "1:10: an argument without a name cannot follow one with a name"],
    [`f(a="b", a="c")`, '1:10: duplicate argument "a"'],
    [`A = "a"\nA = "b"`, "2:1: A already has a value"],
    [`A`, "1:2: expected ( or = after A, found the end of the file"],
    [`f() g()`, "1:5: expected the end of the line, found g"],
    [`f("a" + ["b"])`, "1:9: + joins two strings or two lists"],
    [`f(f"{X}")`, "1:3: {X} is not a constant string of this file"],
    [`f(f"a{")`, "1:3: a lone { in a format string; double it"],
    [`f([x for x in y])`, "1:4: x is not defined; text needs quotation marks"],
    [`f(["x" for x in y])`, "1:8: comprehensions are not supported in rules files; write the rules out one by one"],
    [`def f():\n  pass`, "1:1: def is not supported in rules files; write the rules out one by one"],
    [`load("x", "y")`, "1:1: load is not supported in rules files; put what is needed into this file"],
    [`if True:`, "1:1: if is not supported in rules files; write the rules out one by one"],
    [`f({})`, "1:3: expected a string, a list, a number, True, False, None or a constant, found {"],
    [`f(?)`, `1:3: "?" means nothing here; put text in quotation marks`],
    [`)`, "1:1: expected a rule such as prefix_rule(…), found )"],
  ])("%s", (text, fault) => expect(faultOf(text)).toBe(fault));

  test("nesting and size are limited", () => {
    expect(faultOf(`f(${"[".repeat(100)}`)).toContain("lists are nested too deeply");
    const doubling = Array.from({ length: 40 }, (_, n) => `A${n + 1} = A${n} + A${n}`).join("\n");
    expect(faultOf(`A0 = "a"\n${doubling}`)).toContain("the value exceeds 100000 characters or items");
    expect(faultOf(`A0 = ["a"]\n${doubling}`)).toContain("the value exceeds 100000 characters or items");
    const formats = Array.from({ length: 40 }, (_, n) => `A${n + 1} = f"{A${n}}{A${n}}"`).join("\n");
    expect(faultOf(`A0 = "a"\n${formats}`)).toContain("the value exceeds 100000 characters or items");
  });

  test("any text is parsed as calls or one error", () => {
    const pieces = [
      "prefix_rule",
      "(",
      ")",
      "[",
      "]",
      '"',
      "'",
      '"""',
      "\\",
      "=",
      ",",
      "+",
      "\n",
      " ",
      "#",
      "f'{",
      "}",
      "A",
      "1",
      "def",
      "é",
      "{",
    ];
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(faultOf(text)).toMatch(/^(no fault|\d+:\d+: .)/s);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});
