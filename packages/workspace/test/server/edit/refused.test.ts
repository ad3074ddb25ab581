// Patches that cannot be applied: the sentence the model reads, and a directory in which nothing changed.
import { describe, expect, test } from "vitest";
import { makeTree, snapshot } from "../../support/file-tree.ts";
import { applyPatch, type PatchScenario } from "./scenarios.ts";

const refused: (PatchScenario & { message: string })[] = [
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
