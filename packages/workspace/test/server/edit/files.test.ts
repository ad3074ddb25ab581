// Patches that add, delete and move files, and edits that build on each other.
import { describe } from "vitest";
import { testApplied } from "./scenarios.ts";

describe("a patch changes which files there are", () => {
  testApplied([
    {
      name: "a file is added with the directories above it",
      before: {},
      patch: ["*** Add File: a/b/c.txt", "+one", "+two"],
      after: { "a/b/c.txt": "one\ntwo\n" },
    },
    {
      name: "a file is deleted and its directory stays",
      before: { "d/a.txt": "x\n" },
      patch: ["*** Delete File: d/a.txt"],
      after: { "d/": "" },
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
  ]);
});
