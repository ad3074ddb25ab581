// Patches as a model writes them, applied to real directories: what each form of the language does to the files.
import { describe, expect, test } from "vitest";
import { parsePatch } from "../../engine/src/patch/parse.ts";
import { applyEdits } from "../src/server/edit/index.ts";
import { makeTree, readTree, snapshot, type Tree } from "./edit-tree.ts";

interface Story {
  name: string;
  before: Tree;
  patch: string[];
}

async function applyPatch(root: string, lines: string[], writable: "anywhere" | string[] = [root]) {
  const parsed = parsePatch(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"));
  if (parsed.kind === "invalid") throw new Error(parsed.message);
  return applyEdits({ root, writable }, { edits: parsed.edits });
}

const applied: (Story & { after: Record<string, string> })[] = [
  {
    name: "a file is added with the directories above it",
    before: {},
    patch: ["*** Add File: a/b/c.txt", "+one", "+two"],
    after: { "a/b/c.txt": "one\ntwo\n" },
  },
  {
    name: "adding a file that exists overwrites it",
    before: { "a.txt": "old\n" },
    patch: ["*** Add File: a.txt", "+new"],
    after: { "a.txt": "new\n" },
  },
  {
    name: "a file is deleted and its directory stays",
    before: { "d/a.txt": "x\n" },
    patch: ["*** Delete File: d/a.txt"],
    after: { "d/": "" },
  },
  {
    name: "several hunks change one file from top to bottom",
    before: { a: "1\n2\n3\n4\n5\n6\n" },
    patch: ["*** Update File: a", "@@", " 1", "-2", "+two", "@@", "-4", " 5", "-6", "+six", "+seven"],
    after: { a: "1\ntwo\n3\n5\nsix\nseven\n" },
  },
  {
    name: "a hunk is looked for behind the one before it",
    before: { a: "x\ny\nx\ny\n" },
    patch: ["*** Update File: a", "@@", " x", "-y", "+first", "@@", " x", "-y", "+second"],
    after: { a: "x\nfirst\nx\nsecond\n" },
  },
  {
    name: "@@ context chooses between equal places",
    before: { a: "def f():\n  return 1\ndef g():\n  return 1\n" },
    patch: ["*** Update File: a", "@@ def g():", "-  return 1", "+  return 2"],
    after: { a: "def f():\n  return 1\ndef g():\n  return 2\n" },
  },
  {
    name: "nested anchors are found one inside the other",
    before: { a: "class A:\n  def f():\n    1\nclass B:\n  def f():\n    1\n  def g():\n    1\n" },
    patch: ["*** Update File: a", "@@ class B:", "@@   def g():", "-    1", "+    2"],
    after: { a: "class A:\n  def f():\n    1\nclass B:\n  def f():\n    1\n  def g():\n    2\n" },
  },
  {
    name: "an end-of-file hunk takes the last of several equal places",
    before: { a: "x\nend\nx\nend\n" },
    patch: ["*** Update File: a", "@@", " x", "-end", "+END", "*** End of File"],
    after: { a: "x\nend\nx\nEND\n" },
  },
  {
    name: "an end-of-file hunk that is not at the end is found elsewhere",
    before: { a: "x\nend\ny\n" },
    patch: ["*** Update File: a", "@@", " x", "-end", "+END", "*** End of File"],
    after: { a: "x\nEND\ny\n" },
  },
  {
    name: "lines without context go to the end of the file",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "@@", "+3"],
    after: { a: "1\n2\n3\n" },
  },
  {
    name: "hunks after an appending one still find what stands above",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "@@", "+3", "@@", "-1", "+one"],
    after: { a: "one\n2\n3\n" },
  },
  {
    name: "lines without context go behind their anchor",
    before: { a: "1\n2\n3\n" },
    patch: ["*** Update File: a", "@@ 2", "+2.5", "@@", "-3", "+three"],
    after: { a: "1\n2\n2.5\nthree\n" },
  },
  {
    name: "lines are only deleted",
    before: { a: "1\n2\n3\n" },
    patch: ["*** Update File: a", "@@", " 1", "-2", " 3"],
    after: { a: "1\n3\n" },
  },
  {
    name: "a file may lose all its lines",
    before: { a: "1\n" },
    patch: ["*** Update File: a", "@@", "-1"],
    after: { a: "" },
  },
  {
    name: "an empty file takes new lines",
    before: { a: "" },
    patch: ["*** Update File: a", "@@", "+1"],
    after: { a: "1\n" },
  },
  {
    name: "trailing spaces in the file are forgiven and kept on context lines",
    before: { a: "one  \ntwo\t\nthree\n" },
    patch: ["*** Update File: a", "@@", " one", "-two", "+2", " three  "],
    after: { a: "one  \n2\nthree\n" },
  },
  {
    name: "a wrong indentation is forgiven",
    before: { a: "    if x:\n        y()\n" },
    patch: ["*** Update File: a", "@@", " if x:", "-y()", "+        z()"],
    after: { a: "    if x:\n        z()\n" },
  },
  {
    name: "typographic dashes, quotes and spaces are forgiven and kept on context lines",
    before: { a: "# a – b\nsay(“hi”, ‘you’)\nx\u00a0=\u20091\n" },
    patch: ["*** Update File: a", "@@", " # a - b", "-say(\"hi\", 'you')", "+say()", " x = 1"],
    after: { a: "# a – b\nsay()\nx\u00a0=\u20091\n" },
  },
  {
    name: "an exact place further down wins over a tolerant one",
    before: { a: "x \nx\n" },
    patch: ["*** Update File: a", "@@", "-x", "+y"],
    after: { a: "x \ny\n" },
  },
  {
    name: "a blank line in front of the next marker need not be in the file",
    before: { a: "1\n2\n", b: "x\n" },
    patch: ["*** Update File: a", "@@", "-1", "+one", " 2", "", "*** Delete File: b"],
    after: { a: "one\n2\n" },
  },
  {
    name: "a file with CRLF keeps it on old and new lines",
    before: { a: "one\r\ntwo\r\nthree\r\n" },
    patch: ["*** Update File: a", "@@", " one", "-two", "+2", "+2.5"],
    after: { a: "one\r\n2\r\n2.5\r\nthree\r\n" },
  },
  {
    name: "in a file of mixed endings untouched lines keep theirs and new ones follow the majority",
    before: { a: "1\n2\r\n3\r\n4\n5\r\n" },
    patch: ["*** Update File: a", "@@", " 1", "+1.5", " 2", "@@", "-5", "+five"],
    after: { a: "1\n1.5\r\n2\r\n3\r\n4\nfive\r\n" },
  },
  {
    name: "an update adds a missing final newline",
    before: { a: "1\n2" },
    patch: ["*** Update File: a", "@@", "-1", "+one"],
    after: { a: "one\n2\n" },
  },
  {
    name: "lines appended behind an unfinished last line start a line of their own",
    before: { a: "1\r\n2\r\n3" },
    patch: ["*** Update File: a", "@@", "+4"],
    after: { a: "1\r\n2\r\n3\r\n4\r\n" },
  },
  {
    name: "a byte order mark stays",
    before: { a: "\ufeffone\ntwo\n" },
    patch: ["*** Update File: a", "@@", "-one", "+1"],
    after: { a: "\ufeff1\ntwo\n" },
  },
  {
    name: "a file moves to a new directory and is changed on the way",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "*** Move to: d/e/b", "@@", "-1", "+one"],
    after: { "d/e/b": "one\n2\n" },
  },
  {
    name: "a file moves unchanged, even without a final newline",
    before: { a: "1" },
    patch: ["*** Update File: a", "*** Move to: b"],
    after: { b: "1" },
  },
  {
    name: "a moved file overwrites its destination",
    before: { a: "1\n", b: "old\n" },
    patch: ["*** Update File: a", "*** Move to: b", "@@", "-1", "+one"],
    after: { b: "one\n" },
  },
  {
    name: "a move to the same place is an update",
    before: { a: "1\n" },
    patch: ["*** Update File: a", "*** Move to: ./a", "@@", "-1", "+one"],
    after: { a: "one\n" },
  },
  {
    name: "several updates of one file build on each other",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "@@", "-2", "+two", "*** Update File: a", "@@", "-1", "+one", " two"],
    after: { a: "one\ntwo\n" },
  },
  {
    name: "a file that was just added can be updated, moved and deleted",
    before: {},
    patch: [
      "*** Add File: d/a",
      "+1",
      "*** Update File: d/a",
      "*** Move to: b",
      "@@",
      "-1",
      "+2",
      "*** Add File: c",
      "*** Delete File: c",
    ],
    after: { b: "2\n" },
  },
  {
    name: "a deleted file can be added anew",
    before: { a: "1\n" },
    patch: ["*** Delete File: a", "*** Add File: a", "+2"],
    after: { a: "2\n" },
  },
  {
    name: "two files trade places",
    before: { a: "A\n", b: "B\n" },
    patch: [
      "*** Update File: a",
      "*** Move to: c",
      "*** Update File: b",
      "*** Move to: a",
      "*** Update File: c",
      "*** Move to: b",
    ],
    after: { a: "B\n", b: "A\n" },
  },
  {
    name: "an update through a symlink writes what it points to",
    before: { "d/real": "1\n", link: { link: "d/real" } },
    patch: ["*** Update File: link", "@@", "-1", "+2"],
    after: { "d/real": "2\n", link: "-> d/real" },
  },
  {
    name: "an update through a symlinked directory writes the file in it",
    before: { "d/real": "1\n", link: { link: "d" } },
    patch: ["*** Update File: link/real", "@@", "-1", "+2", "*** Update File: d/real", "@@", "-2", "+3"],
    after: { "d/real": "3\n", link: "-> d" },
  },
  {
    name: "deleting a symlink leaves what it points to",
    before: { real: "1\n", link: { link: "real" } },
    patch: ["*** Delete File: link"],
    after: { real: "1\n" },
  },
  {
    name: "a symlink that was deleted can become a file",
    before: { real: "1\n", link: { link: "real" } },
    patch: ["*** Delete File: link", "*** Add File: link", "+2"],
    after: { real: "1\n", link: "2\n" },
  },
];

describe("a patch is applied", () => {
  test.each(applied)("$name", async ({ before, patch, after }) => {
    const root = await makeTree(before);
    expect(await applyPatch(root, patch)).toMatchObject({ kind: "edited" });
    const expected = Object.fromEntries(
      Object.entries(after).map(([path, text]) => [path, Buffer.from(text).toString("latin1")]),
    );
    expect(await readTree(root)).toEqual(expected);
  });
});

const refused: (Story & { message: string })[] = [
  {
    name: "lines that are not in the file are shown",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "@@", " 1", "-three", "+3"],
    message: "Failed to find expected lines in a:\n1\nthree",
  },
  {
    name: "an anchor that is not in the file is shown",
    before: { a: "1\n" },
    patch: ["*** Update File: a", "@@ class A:", "-1", "+2"],
    message: "Failed to find expected lines in a:\nclass A:",
  },
  {
    name: "a hunk is not looked for above the one before it",
    before: { a: "1\n2\n" },
    patch: ["*** Update File: a", "@@", "-2", "+two", "@@", "-1", "+one"],
    message: "Failed to find expected lines in a:\n1",
  },
  {
    name: "a missing file cannot be updated",
    before: {},
    patch: ["*** Update File: d/a", "@@", "+1"],
    message: "Failed to read file to update d/a: there is no such file",
  },
  {
    name: "a directory cannot be updated",
    before: { "d/a": "" },
    patch: ["*** Update File: d", "@@", "+1"],
    message: "Failed to read file to update d: it is a directory",
  },
  {
    name: "a file that is not UTF-8 is not mangled",
    before: { a: Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]) },
    patch: ["*** Update File: a", "@@", "+1"],
    message: "Failed to read file to update a: it is not UTF-8 text",
  },
  {
    name: "a missing file cannot be deleted",
    before: {},
    patch: ["*** Delete File: a"],
    message: "Failed to delete a: there is no such file",
  },
  {
    name: "a directory cannot be deleted",
    before: { "d/a": "" },
    patch: ["*** Delete File: d"],
    message: "Failed to delete d: it is a directory",
  },
  {
    name: "a file cannot be deleted twice",
    before: { a: "1\n" },
    patch: ["*** Delete File: a", "*** Delete File: a"],
    message: "Failed to delete a: this patch deletes it earlier",
  },
  {
    name: "a deleted file cannot be updated",
    before: { a: "1\n" },
    patch: ["*** Delete File: a", "*** Update File: a", "@@", "+1"],
    message: "Failed to read file to update a: this patch deletes it earlier",
  },
  {
    name: "a directory cannot be overwritten by a new file",
    before: { "d/a": "" },
    patch: ["*** Add File: d", "+1"],
    message: "Failed to write d: it is a directory",
  },
  {
    name: "a directory cannot be overwritten by a move",
    before: { "d/a": "", b: "1\n" },
    patch: ["*** Update File: b", "*** Move to: d"],
    message: "Failed to write d: it is a directory",
  },
  {
    name: "a file cannot become a directory",
    before: { a: "1\n" },
    patch: ["*** Add File: a/b", "+1"],
    message: "a/b cannot be reached: a part of the path is not a directory",
  },
  {
    name: "a path that climbs out is refused",
    before: { a: "1\n" },
    patch: ["*** Add File: ../x", "+1"],
    message: "../x climbs out of the workspace",
  },
  {
    name: "a path that climbs out after a detour is refused",
    before: { "d/a": "1\n" },
    patch: ["*** Add File: d/../../x", "+1"],
    message: "d/../../x climbs out of the workspace",
  },
  {
    name: "a move that climbs out is refused",
    before: { a: "1\n" },
    patch: ["*** Update File: a", "*** Move to: ../b"],
    message: "../b climbs out of the workspace",
  },
  {
    name: "a file name with a slash at its end is refused",
    before: {},
    patch: ["*** Add File: a/", "+1"],
    message: "a/ names a directory",
  },
  {
    name: "a symlink to a file outside is not written through",
    before: { link: { link: "/etc/hostname" } },
    patch: ["*** Add File: link", "+1"],
    message: "link leads to /etc/hostname and lies outside the writable directories",
  },
  {
    name: "a symlinked directory outside is not written into",
    before: { link: { link: "/etc" } },
    patch: ["*** Add File: link/new/x", "+1"],
    message: "link/new/x leads to /etc/new/x and lies outside the writable directories",
  },
  {
    name: "a symlink to nothing is not written through",
    before: { link: { link: "/nowhere/at/all" } },
    patch: ["*** Add File: link", "+1"],
    message: "a symbolic link to nothing",
  },
  {
    name: "symlinks that form a loop are refused",
    before: { a: { link: "b" }, b: { link: "a" } },
    patch: ["*** Update File: a", "@@", "+1"],
    message: "a cannot be reached: its symbolic links form a loop",
  },
  {
    name: "a name too long for the file system leaves no new directory behind",
    before: { a: "1\n" },
    patch: ["*** Delete File: a", `*** Add File: new/dir/${"x".repeat(300)}`, "+1"],
    message: "the name is too long",
  },
  {
    name: "a later failure takes back every earlier edit",
    before: { a: "1\n", b: "2\n", c: "3\n" },
    patch: [
      "*** Update File: a",
      "@@",
      "-1",
      "+one",
      "*** Delete File: b",
      "*** Add File: d/e",
      "+4",
      "*** Update File: c",
      "@@",
      "-x",
    ],
    message: "Failed to find expected lines in c:\nx",
  },
  {
    name: "a rename that fails takes back the renames before it",
    before: { a: { content: "1\n", mode: 0o751 }, b: "2\n", c: "3\n", link: { link: "b" } },
    patch: [
      "*** Update File: a",
      "@@",
      "-1",
      "+one",
      "*** Delete File: link",
      "*** Update File: c",
      "*** Move to: m/n",
      "*** Add File: new",
      "+x",
      "*** Add File: new/below",
      "+y",
    ],
    message: "Failed to write new: ",
  },
];

describe("a patch is refused and nothing changes", () => {
  test.each(refused)("$name", async ({ before, patch, message }) => {
    const root = await makeTree(before);
    const asItWas = await snapshot(root);
    expect(await applyPatch(root, patch, "anywhere")).toEqual({
      kind: "refused",
      message: expect.stringContaining(message),
    });
    expect(await applyPatch(root, patch, [root])).toMatchObject({ kind: "refused" });
    expect(await snapshot(root)).toEqual(asItWas);
  });
});
