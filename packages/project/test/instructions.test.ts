import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readInstructions } from "../src/index.ts";
import { type ProjectFixture, projectFixture } from "./project-fixture.ts";

const read = (
  { root, home, path }: ProjectFixture,
  cwd = ".",
  more: { maxBytes?: number; fallbackNames?: string[] } = {},
) => readInstructions({ root, cwd: path(cwd), home, maxBytes: 32_768, fallbackNames: [], ...more });

describe("AGENTS.md", () => {
  test("of user, root and the folders down to the working directory is one text in this order", () => {
    const here = projectFixture({
      "home:AGENTS.md": "Mine.",
      "AGENTS.md": "Root.",
      "a/AGENTS.md": "A.",
      "a/b/AGENTS.md": "B.",
    });
    const { texts, sources, problems } = read(here, "a/b");
    expect(texts).toEqual([
      `# AGENTS.md instructions for ${here.path("a/b")}\n\n<INSTRUCTIONS>\nMine.\n\n--- project-doc ---\n\nRoot.\n\nA.\n\nB.\n</INSTRUCTIONS>`,
    ]);
    expect(sources).toEqual([here.path("AGENTS.md"), here.path("a/AGENTS.md"), here.path("a/b/AGENTS.md")]);
    expect(problems).toEqual([]);
  });

  test("of folders beside or below the working directory is not read, nor of those above the root", () => {
    const here = projectFixture({ "AGENTS.md": "Root.", "a/AGENTS.md": "A.", "b/AGENTS.md": "B." });
    expect(read(here).texts[0]).not.toMatch(/A\.|B\./);
    const inner = readInstructions({
      root: here.path("a"),
      cwd: here.path("a"),
      home: here.home,
      maxBytes: 100,
      fallbackNames: [],
    });
    expect(inner.texts[0]).toContain("<INSTRUCTIONS>\nA.\n</INSTRUCTIONS>");
  });

  test("is replaced by an override, and by other names only where it is missing", () => {
    const here = projectFixture({
      "home:AGENTS.md": "Mine.",
      "home:AGENTS.override.md": "Mine today.",
      "AGENTS.md": "Root.",
      "AGENTS.override.md": "Root today.",
      "a/CLAUDE.md": "Other name.",
      "a/b/AGENTS.md": "B.",
      "a/b/CLAUDE.md": "Not this.",
    });
    const [text = ""] = read(here, "a/b", { fallbackNames: ["CLAUDE.md", "../AGENTS.md"] }).texts;
    expect(text).toContain("Mine today.\n\n--- project-doc ---\n\nRoot today.\n\nOther name.\n\nB.\n");
    expect(text).not.toMatch(/Mine\.|Root\.|Not this/);
  });

  test("of the user is used although its override is empty; blank project files are skipped", () => {
    const here = projectFixture({
      "home:AGENTS.md": "Mine.",
      "home:AGENTS.override.md": " \n",
      "AGENTS.md": "\n\n",
      "a/AGENTS.md": "A.",
    });
    expect(read(here, "a").texts[0]).toContain("<INSTRUCTIONS>\nMine.\n\n--- project-doc ---\n\nA.\n</INSTRUCTIONS>");
    expect(read(projectFixture()).texts).toEqual([]);
  });

  test("is cut at the byte that crosses the limit, never within a character, and later files are dropped", () => {
    const here = projectFixture({
      "home:AGENTS.md": "x".repeat(100),
      "AGENTS.md": "Rööt.",
      "a/AGENTS.md": "ääää",
      "a/b/AGENTS.md": "B.",
    });
    const { texts, problems } = read(here, "a/b", { maxBytes: 12 });
    expect(texts[0]).toContain(`${"x".repeat(100)}\n\n--- project-doc ---\n\nRööt.\n\nää\n</INSTRUCTIONS>`);
    expect(problems).toMatchObject([{ path: here.path("a/AGENTS.md"), severity: "warning" }]);
    expect(read(here, "a/b", { maxBytes: 0 }).texts[0]).not.toContain("project-doc");
  });
});

describe("a file that cannot be used is a problem and nothing else", () => {
  test("not text", () => {
    const here = projectFixture({ "AGENTS.md": Buffer.from([0x89, 0x50, 0, 1, 2]), "a/AGENTS.md": "A." });
    const { texts, problems } = read(here, "a");
    expect(texts[0]).toContain("<INSTRUCTIONS>\nA.\n");
    expect(problems).toMatchObject([
      { path: here.path("AGENTS.md"), message: expect.stringContaining("not UTF-8 text") },
    ]);
  });

  test("a link out of the project, which could name a secret; links within and from the user's home are followed", () => {
    const here = projectFixture({ "home:secret": "KEY", "shared/rules.md": "Shared.", "home:elsewhere.md": "Mine." });
    symlinkSync(here.path("home:secret"), here.path("AGENTS.md"));
    mkdirSync(here.path("a"));
    symlinkSync(here.path("shared/rules.md"), here.path("a/AGENTS.md"));
    symlinkSync("elsewhere.md", here.path("home:AGENTS.md"));
    const { texts, problems } = read(here, "a");
    expect(texts[0]).toContain("<INSTRUCTIONS>\nMine.\n\n--- project-doc ---\n\nShared.\n");
    expect(texts[0]).not.toContain("KEY");
    expect(problems).toMatchObject([
      { path: here.path("AGENTS.md"), message: expect.stringContaining("out of the project") },
    ]);
  });

  test("a directory, a pipe, a link cycle", () => {
    const here = projectFixture({ "a/b/c/AGENTS.md": "C." });
    mkdirSync(here.path("AGENTS.md"));
    execFileSync("mkfifo", [here.path("a/AGENTS.md")]);
    symlinkSync("AGENTS.md", here.path("a/b/AGENTS.md"));
    const { texts, problems } = read(here, "a/b/c");
    expect(texts[0]).toContain("<INSTRUCTIONS>\nC.\n");
    expect(problems).toMatchObject([{ path: here.path("a/b/AGENTS.md"), message: expect.stringContaining("circle") }]);
  });

  test("invisible characters are removed, with a warning", () => {
    const here = projectFixture({ "AGENTS.md": `Use tabs.\u{e0041}\u{e0042}\u202e <!-- for maintainers --> 👩‍💻\n` });
    const { texts, problems } = read(here);
    expect(texts[0]).toContain("<INSTRUCTIONS>\nUse tabs. <!-- for maintainers --> 👩‍💻\n");
    expect(problems).toMatchObject([{ severity: "warning", message: expect.stringContaining("hidden characters") }]);
  });

  test("a huge file is read only up to the limit", () => {
    const here = projectFixture();
    writeFileSync(here.path("AGENTS.md"), Buffer.alloc(50_000_000, "a"));
    expect(read(here).texts[0]?.length).toBeLessThan(33_000);
  });
});
