// Patches that change the text of one file: where each hunk lands, and what of the file stays as it was.
import { describe } from "vitest";
import { testApplied } from "./scenarios.ts";

describe("a patch changes a file", () => {
  testApplied([
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
  ]);
});
