import { expect, test } from "vitest";
import { diffView } from "../../src/pages/diff-view.ts";

const patchOf = (name: string, lines: number) =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -0,0 +1,${lines} @@\n${"+<b>\n".repeat(lines)}`;

test("a huge file of a diff is collapsed, with its size, and small ones are open", () => {
  const page = diffView(`${patchOf("small.txt", 2)}${patchOf("huge.txt", 5_000)}`).markup;
  expect(page).toMatch(/<details open>\n<summary><code>small\.txt<\/code> \+2 -0<\/summary>/);
  expect(page).toMatch(/<details>\n<summary><code>huge\.txt<\/code> \+5000 -0<\/summary>/);
  expect(page).not.toContain("<b>");
  expect(diffView("").markup).toContain("Nothing is changed");
});
