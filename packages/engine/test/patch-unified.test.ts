// Unified diffs as patches: any text is read or refused with a sentence, never with an exception.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePatch } from "../src/patch/parse.ts";

const line = fc.oneof(
  fc.constantFrom(
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: a",
    "*** Add File: b",
    "*** End of File",
    "```",
  ),
  fc.constantFrom(
    "diff --git a/x b/x",
    'diff --git "a/\\303\\251" "b/\\303\\251"',
    "--- a/x",
    "+++ b/x",
    "--- /dev/null",
  ),
  fc.constantFrom(
    "+++ /dev/null",
    "@@ -1,2 +1,2 @@",
    "@@ -0,0 +1 @@ f()",
    "@@",
    "@@ x",
    "rename from x",
    "rename to y",
  ),
  fc.constantFrom(
    "new file mode 100644",
    "deleted file mode 100644",
    "old mode 1",
    "new mode 2",
    "index 1..2",
    "Index: x",
  ),
  fc.constantFrom(
    "",
    " x",
    "-x",
    "+x",
    "-- ",
    "2.39.2",
    "\\ No newline at end of file",
    "Binary files a and b differ",
    "x",
  ),
  fc.string({ maxLength: 8 }),
);

test("no sequence of headers, hunks and other lines makes the parser fail", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), (lines, fenced) => {
      const parsed = parsePatch((fenced ? ["```diff", ...lines, "```"] : lines).join("\n"));
      if (parsed.kind === "invalid") expect(parsed.message).toMatch(/^invalid (patch|hunk)/);
      else for (const edit of parsed.edits) expect(edit.path).not.toBe("");
    }),
    { numRuns: 2000 },
  );
});

test("a rename with only one of its names is refused", () => {
  const message = (...lines: string[]) => parsePatch(lines.join("\n"));
  expect(message("Index: x", "rename to y")).toMatchObject({ message: expect.stringContaining("the old name of 'y'") });
  expect(message("Index: x", "rename from y")).toMatchObject({
    message: expect.stringContaining("the new name of 'y'"),
  });
});

test("paths lose the letters and quotes of git and the times of diff", () => {
  const pathOf = (...lines: string[]) => {
    const parsed = parsePatch([...lines, "@@ -1 +1 @@", "-1", "+2"].join("\n"));
    return parsed.kind === "patch" ? parsed.edits : parsed.message;
  };
  expect(pathOf("--- a/d/x", "+++ b/d/x")).toMatchObject([{ kind: "update", path: "d/x" }]);
  expect(pathOf("--- d/x", "+++ d/x")).toMatchObject([{ path: "d/x" }]);
  expect(pathOf("--- a/x", "+++ a/x")).toMatchObject([{ path: "a/x" }]);
  expect(pathOf("--- x\t2024-01-01 10:00:00", "+++ x\t2024-01-01 10:00:01")).toMatchObject([{ path: "x" }]);
  expect(pathOf('--- "a/caf\\303\\251 \\"1\\".txt"', '+++ "b/caf\\303\\251 \\"1\\".txt"')).toMatchObject([
    { path: 'caf\u00e9 "1".txt' },
  ]);
  expect(pathOf("--- a/x", "+++ b/y")).toMatchObject([{ path: "x", moveTo: "y" }]);
});

test("a new empty file and a changed mode need no hunk", () => {
  expect(parsePatch("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n")).toEqual({
    kind: "patch",
    edits: [{ kind: "add", path: "x", content: "" }],
  });
  expect(parsePatch("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n")).toMatchObject({
    message: expect.stringContaining("changes only its mode; use chmod"),
  });
});
