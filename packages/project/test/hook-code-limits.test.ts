// Scripts of hooks that are written to be read forever, or with names that objects have: each is pinned or refused.
import { describe, expect, test } from "vitest";
import { pinIn, pinnedWith } from "./hook-code-fixture.ts";

const times = (text: string, count: number): string => text.repeat(count);

/** Each constant is the one before it, twice. */
const doubled = (first: string, join: (name: string) => string): string =>
  [`const a0 = ${first};`, ...Array.from({ length: 60 }, (_, at) => `const a${at + 1} = ${join(`a${at}`)};`)].join(
    "\n",
  );

describe("a text that doubles with each constant", () => {
  test.each([
    ["empty", doubled("''", (name) => `${name} + ${name}`), ["hooks"]],
    ["with +", doubled("'ab'", (name) => `${name} + ${name}`), expect.stringContaining("longer than 10000 characters")],
    [
      "in a template",
      doubled("'ab'", (name) => `\`$\{${name}}$\{${name}}\``),
      expect.stringContaining("longer than 10000 characters"),
    ],
  ])("%s", async (_, text, expected) => {
    expect(await pinnedWith("a.mjs", `${text}\n({})[a60];\n`)).toEqual(expected);
  });

  test("in a shell script is refused", async () => {
    const text = `A=${times("a", 5000)}\nB="${times("$A", 1000)}"\nC="${times("$B", 1000)}"\necho "$C"\n`;
    expect(await pinnedWith("a.sh", text)).toContain("longer than 10000 characters");
  });
});

test("a script whose calls take too many steps to follow is refused", async () => {
  const text = `let a;\n${times("a=b;", 900)}\n${times("a();\n", 5000)}`;
  expect(await pinnedWith("a.mjs", text)).toContain("takes more steps than are followed");
});

describe("names that all objects have are no names of the script", () => {
  test.each(["__proto__", "hasOwnProperty", "valueOf", "constructor", "toString"])("%s", async (name) => {
    expect(await pinnedWith("a.cjs", `${name}("x");\n`)).toContain(`what \`${name}("x")\` runs or loads`);
    expect(await pinnedWith("a.cjs", `const x = ${name};\n`)).toContain(`what \`x = ${name}\` runs or loads`);
  });
});

describe("a script of more than 256 KiB is not read", () => {
  test.each(["a.mjs", "a.py", "a.pl", "a.rb", "a.sh"])("%s", async (name) => {
    expect(await pinnedWith(name, times("\n", 256 * 1024))).toEqual(["hooks"]);
    expect(await pinnedWith(name, times("\n", 257 * 1024))).toContain("it has 257 KiB, and at most 256 KiB are read");
  });

  test("nor a command", () => {
    expect(pinIn("/", `echo ${times("a", 257 * 1024)}`).unpinned).toContain("at most 256 KiB are read");
  });
});

describe("brackets that are nested without an end are refused", () => {
  test.each([
    ["a.py", "(", ")"],
    ["a.rb", "%Q{#{", "}}"],
    ["a.sh", '"$(', ')"'],
    ["a.sh", '"${a:-', '}"'],
  ])("%s: %s", async (name, opening, closing) => {
    const text = `${times(opening, 20_000)}${times(closing, 20_000)}`;
    expect(await pinnedWith(name, text)).toContain("nested too deeply");
  });
});

describe("a long text of one token is read to its end", () => {
  test.each([
    ["a.mjs", "a.x=1;", ["hooks"]],
    ["a.pl", "\n=pod\n", ["hooks"]],
    ["a.pl", "=pod\n\n=cut\n", ["hooks"]],
    ["a.rb", "rescue ", ["hooks"]],
    ["a.rb", "=begin\n", expect.stringContaining("a comment is not closed")],
    ["a.rb", "=begin\n=end\n", ["hooks"]],
    ["a.py", "import a:", expect.stringContaining("is not known")],
    ["a.sh", "cat <<A\nA\n", ["hooks"]],
    ["a.sh", "cd a\n", expect.stringContaining("too long a path")],
  ])("%s: %j", async (name, token, expected) => {
    expect(await pinnedWith(name, times(token, Math.floor(100_000 / token.length)))).toEqual(expected);
  });
});
