import { expect, test } from "vitest";
import { diffView } from "../../src/pages/diff-view.ts";

const view = (patch: string) => diffView(Buffer.from(patch), { wholeUrl: "/whole?a=1&b=2" }).markup;

const patchOf = (name: string, lines: number) =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -0,0 +1,${lines} @@\n${"+<b>\n".repeat(lines)}`;

test("a huge file of a diff is collapsed, with its size, and small ones are open", () => {
  const page = view(`${patchOf("small.txt", 2)}${patchOf("huge.txt", 5_000)}`);
  expect(page).toMatch(/<details open>\n<summary><code>small\.txt<\/code> \+2 -0<\/summary>/);
  expect(page).toMatch(/<details>\n<summary><code>huge\.txt<\/code> \+5000 -0<\/summary>/);
  expect(page).not.toContain("<b>");
  expect(view("")).toContain("Nothing is changed");
});

test("a page shows the first mebibyte of a diff and links to the whole", () => {
  const page = view(`${patchOf("shown.txt", 200_000)}${patchOf("rest.txt", 200_000)}`);
  expect(page).toContain("<code>shown.txt</code> +200000 -0");
  expect(page).not.toContain("rest.txt");
  expect(page).toMatch(
    /The last \d+ bytes are not shown\. <a href="\/whole\?a=1&amp;b=2">Download the whole patch<\/a>/,
  );
  expect(view(patchOf("shown.txt", 2))).not.toContain("Download");
});
