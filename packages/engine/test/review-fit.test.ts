import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coverageSentence, fitChange, openDiffReader } from "../src/review/index.ts";
import { estimateText } from "../src/state/tokens.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

function parseDiff(diff: string, maxBytes = 10_000_000) {
  const reader = openDiffReader(maxBytes);
  reader.push(new TextEncoder().encode(diff));
  return reader.end();
}

const added = (path: string, lines: number, text = "a line of code") =>
  `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines} @@
${Array.from({ length: lines }, (_, index) => `+${text} ${index}`).join("\n")}
`;

describe("a diff of git", () => {
  test("is read as files with hunks and changed lines", () => {
    const diff = `diff --git a/src/a.ts b/src/b.ts
similarity index 90%
rename from src/a.ts
rename to src/b.ts
--- a/src/a.ts
+++ b/src/b.ts
@@ -1,3 +1,3 @@ function one() {
 same
-old
+new
--- not a header
@@ -10 +10,2 @@
 same
+more
\\ No newline at end of file
`;
    expect(parseDiff(diff)).toMatchObject([{ path: "src/b.ts", changedLines: 4, kind: "text", isComplete: true }]);
  });

  test.each([
    ["diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n", "x.png", "binary"],
    ["diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", "run.sh", "text"],
    ["diff --git a/a b c b/a b c\nnew file mode 100644\nindex 0..1\n", "a b c", "text"],
    [
      "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
      "gone",
      "deleted",
    ],
    ['diff --git "a/ta\\tb" "b/ta\\tb"\n--- /dev/null\n+++ "b/ta\\tb"\n@@ -0,0 +1 @@\n+x\n', "ta\tb", "text"],
    ["diff --git a/sp ace b/sp ace\n--- a/sp ace\t\n+++ b/sp ace\t\n@@ -1 +1 @@\n-x\n+y\n", "sp ace", "text"],
    ["diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", "new", "text"],
  ])("names the file of %j", (diff, path, kind) => {
    expect(parseDiff(diff)).toMatchObject([{ path, kind }]);
  });

  test("is read the same however it is cut into chunks, and keeps no more of a file than its limit", () => {
    const line = fc.constantFrom("diff --git a/x b/x", "* Unmerged path z", "@@ -1 +1 @@", "+++ b/x", "+é", "-b", "");
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(line), cuts, fc.integer({ min: 0, max: 60 }), (lines, lengths, maxBytes) => {
        const bytes = new TextEncoder().encode(lines.join("\n"));
        const reader = openDiffReader(maxBytes);
        for (let at = 0, index = 0; at < bytes.length; index += 1) {
          const end = at + (lengths[index % lengths.length] ?? 1);
          reader.push(bytes.slice(at, end));
          at = end;
        }
        const files = reader.end();
        expect(files).toEqual(parseDiff(lines.join("\n"), maxBytes));
        for (const { header, body } of files)
          expect(Math.max(header.length, body.length)).toBeLessThanOrEqual(maxBytes);
      }),
      runs,
    );
  });

  test("of 60 MB is counted in full and kept in part, with the most important files", () => {
    const reader = openDiffReader(10_000);
    const encoder = new TextEncoder();
    const large = added("data/rows.txt", 20_000);
    for (let index = 0; index < 100; index += 1) reader.push(encoder.encode(large.replaceAll("rows", `${index}`)));
    reader.push(encoder.encode(added("src/small.ts", 30)));
    for (let index = 0; index < 30; index += 1) reader.push(encoder.encode(large.replaceAll("rows", `z${index}`)));
    const files = reader.end();
    expect(files.reduce((total, { changedLines }) => total + changedLines, 0)).toBe(130 * 20_000 + 30);
    expect(files.reduce((total, { header, body }) => total + header.length + body.length, 0)).toBeLessThan(200_000);
    expect(fitChange(files, 2_000).diff).toContain("+++ b/src/small.ts");
  });

  test("of any bytes is parsed without a crash, and joined again without loss", () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom("diff --git a/x b/x", "@@ -1 +1 @@", "+++ b/x", "+a", "-b", " c"),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const files = parseDiff(lines.join("\n"));
        const { coverage } = fitChange(files, 1_000_000);
        expect(coverage.readLines).toBe(coverage.changedLines);
      }),
      runs,
    );
  });
});

describe("a change shortened to its limit", () => {
  test("is complete and has no coverage sentence while it fits", () => {
    const diff = added("a.ts", 3) + added("b.ts", 3);
    const fitted = fitChange(parseDiff(diff), 1_000);
    expect(`${fitted.diff}\n`).toBe(diff);
    expect(coverageSentence(fitted.coverage, 10)).toBeNull();
  });

  test("leaves out lock files and generated files before source", () => {
    const files = parseDiff(added("package-lock.json", 50) + added("dist/x.js", 50) + added("src/z.ts", 60));
    const { diff, coverage } = fitChange(files, 450);
    expect(diff).toContain("src/z.ts");
    expect(coverage.notRead).toEqual(["package-lock.json", "dist/x.js"]);
    expect(coverageSentence(coverage, 10)).toBe(
      "Coverage: 1 of 3 files, 37 % of changed lines; not reviewed: package-lock.json, dist/x.js",
    );
  });

  test("keeps twenty small files beside one that is too large, and its beginning", () => {
    const small = Array.from({ length: 20 }, (_, index) => added(`src/${index}.ts`, 5)).join("");
    const { diff, coverage } = fitChange(parseDiff(added("src/large.ts", 5_000) + small), 3_000);
    expect(coverage.notRead).toEqual([]);
    expect(coverage.partly).toMatchObject([{ path: "src/large.ts", ofLines: 5_000 }]);
    expect(diff).toMatch(/\[… \d+ more changed lines of src\/large\.ts left out …\]/);
    expect(coverageSentence(coverage, 10)).toMatch(
      /^Coverage: 21 of 21 files, \d+ % of changed lines; partly reviewed: src\/large\.ts \(\d+ of 5000 lines\)$/,
    );
  });

  test("has the files that changed most, before small ones, removed ones and generated ones", () => {
    const small = Array.from({ length: 40 }, (_, index) => added(`src/${index}.ts`, 2)).join("");
    const removed = added("src/old.ts", 300).replace("new file mode", "deleted file mode").replaceAll("\n+a", "\n-a");
    const change = parseDiff(small + removed + added("yarn.lock", 400) + added("src/main.ts", 60));
    const { diff, coverage } = fitChange(change, 700);
    expect(parseDiff(diff)[0]?.path).toBe("src/main.ts");
    expect(coverage.partly).toEqual([]);
    expect(coverage.notRead.length).toBeGreaterThan(20);
    expect(coverage.notRead.slice(-2)).toEqual(["src/old.ts", "yarn.lock"]);
  });

  test("names binary files as not reviewed", () => {
    const binary = "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n";
    const { coverage } = fitChange(parseDiff(added("a.ts", 2) + binary), 1_000);
    expect(coverageSentence(coverage, 10)).toBe(
      "Coverage: 1 of 2 files, 100 % of changed lines; not reviewed: x.png (binary)",
    );
  });

  test("names files that are too large to be compared before all others that are left out", () => {
    const files = parseDiff(Array.from({ length: 30 }, (_, index) => added(`f${index}.ts`, 400)).join(""));
    const last = files.at(-1);
    if (last) Object.assign(last, { kind: "oversized", body: "", changedLines: 0 });
    expect(coverageSentence(fitChange(files, 0).coverage, 2)).toBe(
      "Coverage: 0 of 30 files, 0 % of changed lines; not reviewed: f29.ts (too large), f0.ts and 28 more",
    );
  });

  test("names only so many files and counts the rest", () => {
    const files = parseDiff(Array.from({ length: 30 }, (_, index) => added(`f${index}.ts`, 400)).join(""));
    const { coverage } = fitChange(files, 0);
    expect(coverageSentence(coverage, 2)).toBe(
      "Coverage: 0 of 30 files, 0 % of changed lines; not reviewed: f0.ts, f1.ts and 28 more",
    );
  });

  test("never grows past its budget, and its lines and files always add up", () => {
    const file = fc.record({
      path: fc.constantFrom("a.ts", "yarn.lock", "b/c.py", "vendor/x.go"),
      lines: fc.integer({ min: 1, max: 300 }),
      text: fc.string({ unit: fc.constantFrom("x", "é", "語", " ") }),
    });
    fc.assert(
      fc.property(fc.array(file, { maxLength: 12 }), fc.integer({ min: 0, max: 4_000 }), (files, budget) => {
        const parsed = parseDiff(files.map(({ path, lines, text }) => added(path, lines, text)).join(""));
        const { diff, coverage } = fitChange(parsed, budget);
        expect(estimateText(diff)).toBeLessThanOrEqual(budget);
        const missing = parsed.length - parseDiff(diff).length;
        expect(coverage.notRead).toHaveLength(missing);
        expect(coverage.readLines <= coverage.changedLines).toBe(true);
        const sentence = coverageSentence(coverage, 5);
        expect(sentence === null).toBe(coverage.readLines === coverage.changedLines && missing === 0);
      }),
      runs,
    );
  });
});
