import { mkdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileGlob, splitGlobs } from "../src/instructions/globs.ts";
import { mentionedRules, nestedInstructions, readNested, readRules, ruleTexts } from "../src/instructions.ts";
import { type ProjectFixture, projectFixture } from "./project-fixture.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

const touch = ({ root, home, path }: ProjectFixture, paths: string[], given: string[] = [], cwd = ".") => {
  const at = { root, cwd: path(cwd), home, maxBytes: 32_768, fallbackNames: [] };
  return readNested({ ...at, rules: readRules([root], root).rules }, paths, given);
};

describe("folders above a file", () => {
  const touched = (path: string) => ({ path, kind: "file" as const });

  test("are listed outermost first, each once, without those sent before and those above the working directory", () => {
    const at = {
      root: "/r",
      cwd: "/r/a",
      touched: [touched("/r/a/b/c/x.ts"), touched("/r/a/b/y.ts"), touched("/r/z/x.ts")],
    };
    expect(nestedInstructions(at, [])).toEqual(["/r/z", "/r/a/b", "/r/a/b/c"]);
    expect(nestedInstructions(at, ["/r/a/b/AGENTS.md", "/r/z/AGENTS.md"])).toEqual(["/r/a/b/c"]);
    expect(nestedInstructions({ ...at, touched: [touched("/r/a/x.ts"), touched("/elsewhere/x")] }, [])).toEqual([]);
  });

  test("add their AGENTS.md when a file there is touched, once", () => {
    const here = projectFixture({
      "a/AGENTS.md": "A.",
      "a/b/x.ts": "",
      "a/b/AGENTS.override.md": "B.",
      "c/AGENTS.md": "C.",
    });
    const first = touch(here, ["a/b/x.ts"]);
    expect(first.texts).toEqual([
      {
        source: here.path("a/AGENTS.md"),
        text: `# AGENTS.md instructions for ${here.path("a")}\n\n<INSTRUCTIONS>\nA.\n</INSTRUCTIONS>`,
      },
      { source: here.path("a/b/AGENTS.override.md"), text: expect.stringContaining("B.") },
    ]);
    const given = first.texts.map(({ source }) => source);
    expect(touch(here, ["a/b/x.ts", here.path("a/b")], given).texts).toEqual([]);
    expect(touch(here, ["c"], given).texts).toMatchObject([{ source: here.path("c/AGENTS.md") }]);
  });

  test("count for deleted files, and are ignored for paths that never existed or are outside", () => {
    const here = projectFixture({ "a/AGENTS.md": "A." });
    expect(touch(here, ["a/deleted.ts"]).texts).toHaveLength(1);
    for (const path of ["nowhere/x.ts", "../../etc/passwd", "/", "a\0b", "x".repeat(5_000), "a/AGENTS.md/x"]) {
      expect(touch(here, [path]).problems).toEqual([]);
    }
  });
});

describe("rules", () => {
  const rule = (front: string, body: string) => `---\n${front}\n---\n${body}\n`;
  const files = {
    ".platform/rules/always.mdc": rule("alwaysApply: true\nglobs: *.ts", "Be kind."),
    ".platform/rules/sql.mdc": rule(
      "description: For SQL\nglobs: *.sql, db/**/*.{ts,js}\nalwaysApply: false",
      "No joins.",
    ),
    ".platform/rules/deep/release.mdc": rule("description: How to release", "Tag first."),
    ".platform/rules/rare.mdc": rule("globs:", "Only by name."),
    ".platform/rules/none.mdc": "No front matter.",
    ".platform/rules/readme.md": "Not a rule.",
  };

  test("that always apply are part of the instructions, those with a description are listed by name", () => {
    const here = projectFixture(files);
    const { rules, problems } = readRules([here.root], here.root);
    const [text = ""] = ruleTexts(rules, 32_768).texts;
    expect(text).toContain(`## always (${here.path(".platform/rules/always.mdc")})\nBe kind.`);
    expect(text).toContain(`- deep/release: How to release (file: ${here.path(".platform/rules/deep/release.mdc")})`);
    expect(text).not.toMatch(/No joins|Tag first|Only by name|Not a rule/);
    expect(problems).toMatchObject([{ path: here.path(".platform/rules/none.mdc"), line: 1 }]);
    expect(ruleTexts(rules, 3)).toMatchObject({ problems: [{ severity: "error" }] });
  });

  test("for files are added when such a file is touched, once", () => {
    const here = projectFixture({ ...files, "x/q.sql": "", "db/m/a.js": "", "a.ts": "" });
    for (const path of ["x/q.sql", "db/m/a.js"]) {
      expect(touch(here, [path]).texts).toMatchObject([{ text: expect.stringContaining("No joins.") }]);
    }
    expect(touch(here, ["a.ts", "x"]).texts).toEqual([]);
    expect(touch(here, ["x/q.sql"], [here.path(".platform/rules/sql.mdc")]).texts).toEqual([]);
  });

  test("of a nested folder are added when something there is touched, with globs relative to it", () => {
    const here = projectFixture({
      "app/.platform/rules/a.mdc": rule("alwaysApply: true", "App rule."),
      "app/.platform/rules/b.mdc": rule("globs: src/*.ts", "App files."),
      "app/src/x.ts": "",
      "src/x.ts": "",
    });
    expect(touch(here, ["src/x.ts"]).texts).toEqual([]);
    const { texts } = touch(here, ["app/src/x.ts"]);
    expect(texts.map(({ source }) => source)).toEqual([
      here.path("app/.platform/rules/a.mdc"),
      here.path("app/.platform/rules/b.mdc"),
    ]);
    expect(touch(here, ["app/src/x.ts"], [texts[0]?.source ?? ""]).texts).toHaveLength(1);
  });

  test("are named with @name", () => {
    const here = projectFixture(files);
    const { rules } = readRules([here.root], here.root);
    const names = (prompt: string) => mentionedRules(prompt, rules).map(({ name }) => name);
    expect(names("use @rare and @deep/release.")).toEqual(["deep/release", "rare"]);
    expect(names("mail me@rare.org about @rare.mdc")).toEqual(["rare"]);
    expect(names("@always @nothing")).toEqual([]);
  });

  test("that cannot be read are problems with their line", () => {
    const here = projectFixture({ ".platform/rules/bad.mdc": "---\nglobs: x\nwhat is this\n---\n" });
    expect(readRules([here.root], here.root)).toMatchObject({ rules: [], problems: [{ line: 3 }] });
    mkdirSync(here.path(".platform/rules/folder.mdc"));
    expect(readRules([here.root], here.root).problems).toHaveLength(1);
  });
});

describe("globs", () => {
  test.each([
    ["*.ts", ["a.ts", "x/y/a.ts"], ["a.tsx", "a.ts/b"]],
    ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "a/src/a.ts"]],
    ["src/**", ["src/a", "src/x/y"], ["source/a"]],
    ["**/test/*.{js,ts}", ["test/a.js", "x/y/test/b.ts"], ["test/a.jsx", "contest/a.js"]],
    ["./docs/**/*.md", ["docs/a.md", "docs/x/y.md"], ["docs.md"]],
    ["a?c", ["abc"], ["ac", "a/c"]],
    ["[id].tsx", ["x/[id].tsx"], ["i.tsx"]],
    ["a{b", ["a{b"], ["ab"]],
  ])("%s", (glob, matching, others) => {
    const matches = compileGlob(glob);
    expect(matching.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  test("come as a list with commas, except in braces", () => {
    expect(splitGlobs("*.ts, src/{a,b}/**,, x")).toEqual(["*.ts", "src/{a,b}/**", "x"]);
  });

  test("of any form are matched in linear time", () => {
    expect(compileGlob(`${"*a".repeat(200)}b`)("a".repeat(2_000))).toBe(false);
    expect(compileGlob("{a,b}".repeat(50))("x")).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."*?{},/ab[]") }), fc.string(), (glob, path) => {
        expect(typeof compileGlob(glob)(path)).toBe("boolean");
      }),
      { numRuns: runs },
    );
  });
});
