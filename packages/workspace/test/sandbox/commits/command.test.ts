// Which commands count as nothing but a commit. The shell itself is the judge of how a script is read.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readCommitCommand, splitScript } from "../../../src/sandbox/commits/command.ts";

const read = (script: string) => readCommitCommand(["/bin/bash", "-c", script]);

describe("a commit command", () => {
  test.each([
    "git add -A && git commit -m x",
    "git add . ; git commit -m 'two words'",
    'git add src/*.ts docs\ngit commit -q -m "a \\"quoted\\" word; and | more" 2>&1',
    "  git commit --amend --no-edit\n\n",
    "git mv a b && git rm -r --cached old > /dev/null 2>/dev/null && git commit -am 'x'",
    "git --no-pager commit -m x",
    "git -C sub add file &&\n git -C sub commit -m x",
    "git commit -m 'line one\n\nline two' \\\n  -m more",
    "git add ':!secret' \u00fcber.txt",
    "git commit -m x;",
    "git commit -m '$(not run)' -m \"\\$HOME\"",
  ])("is %j", (script) => {
    expect(read(script)).toBeDefined();
  });

  test.each([
    ...["", " ", ";", "git", "git status", "git push", "ls", "git-add x", "gitadd x", "git Commit -m x"],
    ...[
      "git commit -m x; touch .git/x",
      "git add . && npm test",
      "git add . | cat",
      "git add . || true",
      "git add . &",
    ],
    ...["git commit -m $(touch x)", 'git commit -m "`touch x`"', 'git commit -m "$(touch x)"', "git commit -m $'x'"],
    ...[
      "git commit -m x > file",
      "git commit -m x >> .git/config",
      "git add . 2> err",
      "git commit -F <(echo)",
      "git commit -F - << EOF\nx\nEOF",
    ],
    ...[
      "git -c core.hooksPath=x commit -m x",
      "git --git-dir=x commit -m x",
      "git --work-tree=/ add x",
      "git --exec-path=. add x",
    ],
    ...[
      "git --config-env=core.editor=X commit",
      "git -C",
      "git -p commit -m x",
      "git -C a -C b add x",
      "git --no-pager --git-dir=x add y",
    ],
    ...[
      "GIT_DIR=x git commit -m x",
      "env git commit -m x",
      "(git commit -m x)",
      "{ git add x; }",
      "if git add x; then git add y; fi",
    ],
    ...[
      "git add ~/x",
      "git add {a,b}",
      "git add a[1]",
      "git add \\$x",
      "! git add x",
      "git add x # comment",
      "git add 'open",
      "git add x &&",
      "&& git add x",
      "git add x && && git add y",
      "git add x ;; git add y",
    ],
    ...[
      "git add x\rgit add y",
      "git add x\0",
      "git commit -m x >/dev/null/../../file",
      "git commit -m x >/dev/nullx",
      '"git add" x',
      "git add x\u0085y",
    ],
  ])("is not %j", (script) => {
    expect(read(script)).toBeUndefined();
  });

  test("needs a shell that only runs this script, or git itself", () => {
    expect(readCommitCommand(["git", "add", "$(x)", ">file"])).toBeDefined();
    expect(readCommitCommand(["sh", "-lc", "git add x"])).toBeDefined();
    for (const argv of [
      [],
      ["git"],
      ["bash", "git add x"],
      ["bash", "-ic", "git add x"],
      ["python3", "-c", "git add x"],
    ]) {
      expect(readCommitCommand(argv)).toBeUndefined();
    }
    expect(readCommitCommand(["bash", "-c", "git add x", "name"])).toBeUndefined();
  });

  test("tells where it works and whether it replaces the last commit", () => {
    expect(read("git -C a add x && git commit -m '--amend'")).toEqual({ directories: ["a", "."], amends: true });
    expect(read("git add --amend && git commit -m x")).toEqual({ directories: [".", "."], amends: false });
  });
});

describe("a script that is accepted", () => {
  const empty = mkdtempSync(join(tmpdir(), "words-"));
  afterAll(() => rmSync(empty, { recursive: true }));

  /** What bash makes of it: the words of each git it would start. */
  function askBash(script: string): string[][] {
    const printing = `git() { printf '%s\\0' git "$@"; printf '\\001\\0'; return 0; }\n${script}`;
    const output = execFileSync("/bin/bash", ["--norc", "-c", printing], {
      cwd: empty,
      encoding: "utf8",
      env: { PATH: "/nowhere", LC_ALL: "C.UTF-8" },
    });
    return output
      .split("\u0001\0")
      .filter((command) => command !== "")
      .map((command) => command.split("\0").slice(0, -1));
  }

  test("has the very words bash reads in it", () => {
    const piece = fc.constantFrom(
      ...[
        "git ",
        "git",
        "add",
        " ",
        "\n",
        ";",
        "&&",
        "'",
        '"',
        "\\",
        "$",
        "`",
        "*",
        "x",
        "a b",
        "-m",
        "=",
        "{",
        "~",
        "!",
        "#",
      ],
      ...[
        "'q w'",
        '"d\\"q"',
        '"\\\\"',
        '"\\a"',
        "\\\n",
        "%",
        "^",
        "@",
        ":",
        ",",
        "(",
        "&",
        "|",
        "<",
        ">",
        "\u00fc",
        "2",
        "\t",
      ],
    );
    const command = fc.array(piece, { maxLength: 8 }).map((parts) => `git ${parts.join("")}`);
    const scripts = fc
      .array(command, { minLength: 1, maxLength: 3 })
      .chain((commands) => fc.constantFrom(" && ", "; ", "\n", " &&\n").map((joint) => commands.join(joint)));
    let accepted = 0;
    fc.assert(
      fc.property(scripts, (script) => {
        const words = splitScript(script);
        if (words === undefined || !words.every(([first]) => first === "git")) return;
        accepted += 1;
        expect(words).toEqual(askBash(script));
      }),
      { numRuns: 10 * Number(process.env.FUZZ_RUNS ?? 200) },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});
