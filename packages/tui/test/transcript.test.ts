import { expect, test } from "vitest";
import { type Line, lineWidth, plainLine } from "../src/text/index.ts";
import { blockRows, openBlocks } from "../src/transcript/blocks.ts";
import { diffLines, hunksOf } from "../src/transcript/cells.ts";
import { progressRows } from "../src/transcript/progress.ts";

test.each([20, 60, 200])(
  "no row of what is under way wraps at %i columns, and no character of it is obeyed",
  (columns) => {
    const output = ["日本語 👩‍💻 e\u0301 ".repeat(40), `\tafter a tab ${"x".repeat(300)}`, "\u001b[2Jcleared"];
    const progress = { elapsedMs: 61_000, used: "1,300 tokens", doing: "running make\nall", output };
    const rows = progressRows(progress, columns);
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(lineWidth(row)).toBeLessThan(columns);
    expect(plainLine(rows[3] as Line)).toMatch(/^● 1m 1s · 1,300 to/);
    expect(rows.map(plainLine).join("")).not.toContain("\u001b");
  },
);

const text = `before\n\n| a | b |\n|---|---|\n| 1 | 2 |\nafter\n${"line\n".repeat(100)}\`\`\`js\nlet a;\n\`\`\`\nend`;

/** All rows, and how many lines of text the longest piece has. */
function shownOf(pieces: string[]): { rows: string[]; longest: number } {
  const stream = openBlocks();
  const blocks = pieces.flatMap((piece) => {
    stream.add(piece);
    return stream.take();
  });
  stream.finish();
  const all = [...blocks, ...stream.take()];
  const sizes = all.map((block) => (block.kind === "code" ? block.lines.length : block.text.split("\n").length));
  return { rows: all.flatMap((block) => blockRows(block, 40)).map(plainLine), longest: Math.max(...sizes) };
}

test("a message shows the same rows however it arrives, in pieces that a frame can show", () => {
  const whole = shownOf([text]);
  expect(whole.rows.slice(0, 6)).toEqual(["before", "", "a │ b", "──┼──", "1 │ 2", "after"]);
  expect(whole.rows.slice(-2)).toEqual(["  let a;", "end"]);
  expect(whole.longest).toBeLessThanOrEqual(32);
  expect(shownOf([...text]).rows).toEqual(whole.rows);
  expect(shownOf(text.split(/(?<=\n)/)).rows).toEqual(whole.rows);
});

test("hunks are shown without numbers, and an added file that holds a diff as it is", () => {
  const diff = "@@ -1,1 +1,1 @@\n-one\n+ONE\n@@ -2,1 +2,1 @@ def f\n-two\n+@@ -1,1 +1,1 @@\n";
  const changed = { path: "a.txt", kind: { type: "update" as const, move_path: null }, diff };
  expect(diffLines(changed)).toEqual(["-one", "+ONE", "@@ def f", "-two", "+@@ -1,1 +1,1 @@"]);
  expect(hunksOf(changed)).toEqual([
    { path: "a.txt", lines: ["@@", "-one", "+ONE"] },
    { path: "a.txt", lines: ["@@ def f", "-two", "+@@ -1,1 +1,1 @@"] },
  ]);
  expect(diffLines({ path: "b.diff", kind: { type: "add" }, diff })[0]).toBe("+@@ -1,1 +1,1 @@");
});
