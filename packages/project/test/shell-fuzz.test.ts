import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxCharacters } from "../src/shell/grammar.ts";
import { shell, show } from "./shell-reader.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

const expansion = "$" + "{y:-";
const signs = [..."$`'\"\\;&(){}<>*?[!\n \t=~#+|\0\ud800é", "$(", "&&", "||", "<<EOF", "\nEOF\n", "<<<", "<(", "$'\\x"];
const words =
  "git push $X if then fi for in do done case esac [[ ]] (( )) sudo env -S bash -c -lc eval xargs -I find -exec";
const pieces = [...signs, ...words.split(" "), expansion];
const scripts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join("")),
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(" ")),
);

describe("arbitrary scripts", () => {
  test("every text is read as commands or as unknown, with the same result each time", () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const found = shell.commandsOf(script);
        expect(["commands", "unknown"]).toContain(found.kind);
        for (const { words } of found.commands) expect(words.length).toBeGreaterThan(0);
        expect(shell.commandsOf(script)).toEqual(found);
      }),
      { numRuns },
    );
  });

  test("every list of words is read", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 30 }), (words) => {
        expect(shell.commandsOfWords(words).commands[0]?.words).toEqual(words);
      }),
      { numRuns },
    );
  });

  test("quoting a word in any way does not change it", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "Z", " ", "$", "`", "\\", '"', "'", "\n", "*", "é"),
      maxLength: 20,
    });
    fc.assert(
      fc.property(text, (word) => {
        const single = `'${word.replaceAll("'", `'\\''`)}'`;
        const double = `"${word.replace(/([$`"\\])/g, "\\$1")}"`;
        const [found] = shell.commandsOf(`x ${single} ${double}`).commands;
        expect(found?.words).toEqual(["x", word, word]);
      }),
      { numRuns },
    );
  });
});

const size = maxCharacters - 10;
const fill = (piece: string): string => piece.repeat(Math.floor(size / piece.length));

describe("scripts as large as can run", () => {
  test.each([
    ["commands", fill("git push\n")],
    ["a chain", fill("a && ")],
    ["subshells", fill("(")],
    ["substitutions", fill("$(")],
    ["backticks", fill("`a`;")],
    ["expansions", fill("${a:-`b` ")],
    ["open quotations", fill("'\"")],
    ["braces", fill("{a,")],
    ["here-documents", fill("cat <<A\n")],
    ["wrappers", fill("sudo ")],
    ["actions of find", `find ${fill("-exec ")}`],
    ["keywords", fill("if ")],
    ["cases", fill("case a in ")],
    ["signs", fill("&|;<>()")],
    ["backslashes", fill("\\")],
    ["a single word", fill("a")],
  ])("%s are read in full or called unknown", (_, script) => {
    expect(["commands", "unknown"]).toContain(shell.commandsOf(script).kind);
  });

  test("commands after an unreadable part are not allowed", () => {
    const long = shell.commandsOf(`${fill("(")}\ngit push\n`);
    expect(long.kind).toBe("unknown");
    expect(show(long)).toContain("git push");
  });

  test("a longer script, or one with a NUL in it, is unknown", () => {
    expect(shell.commandsOf(`git push #${"a".repeat(maxCharacters)}`)).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("longer than"),
    });
    expect(shell.commandsOf("git push\0")).toMatchObject({ kind: "unknown", reason: expect.stringContaining("NUL") });
  });
});
