// The patch language: accepted patches, their meaning, and the messages for refused ones.
import type { Edit } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEmbeddedPatch } from "../src/patch/embedded.ts";
import { patchGrammar } from "../src/patch/grammar.ts";
import { marker } from "../src/patch/markers.ts";
import { parsePatch } from "../src/patch/parse.ts";
import { renderPatch, someEdits } from "./patch-text.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

const chunk = (before: string[], after: string[], more: { anchors?: string[]; endOfFile?: boolean } = {}) => ({
  anchors: more.anchors ?? [],
  before,
  after,
  endOfFile: more.endOfFile ?? false,
});
const update = (path: string, ...chunks: ReturnType<typeof chunk>[]): Edit => ({ kind: "update", path, chunks });
const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

const accepted: [string, string, Edit[]][] = [
  [
    "an added file is its plus lines, each with a newline",
    patch("*** Add File: a.txt", "+one", "+", "+ two"),
    [{ kind: "add", path: "a.txt", content: "one\n\n two\n" }],
  ],
  ["an added file may be empty", patch("*** Add File: a"), [{ kind: "add", path: "a", content: "" }]],
  ["a deleted file is named by its header", patch("*** Delete File: a b.txt"), [{ kind: "delete", path: "a b.txt" }]],
  [
    "an update splits its lines into what is expected and what replaces it",
    patch("*** Update File: a", "@@", " same", "-old", "+new", " end"),
    [update("a", chunk(["same", "old", "end"], ["same", "new", "end"]))],
  ],
  [
    "the first chunk may come without @@",
    patch("*** Update File: a", "-old", "+new"),
    [update("a", chunk(["old"], ["new"]))],
  ],
  [
    "an update may have several chunks",
    patch("*** Update File: a", "@@", "-1", "+one", "@@", "-2", "+two"),
    [update("a", chunk(["1"], ["one"]), chunk(["2"], ["two"]))],
  ],
  [
    "the text after @@ is an anchor",
    patch("*** Update File: a", "@@ def f():", "-1", "+2"),
    [update("a", chunk(["1"], ["2"], { anchors: ["def f():"] }))],
  ],
  [
    "several @@ lines in a row are nested anchors",
    patch("*** Update File: a", "@@ class A:", "@@   def f():", "-1", "+2"),
    [update("a", chunk(["1"], ["2"], { anchors: ["class A:", "  def f():"] }))],
  ],
  [
    "a bare @@ among anchors adds none",
    patch("*** Update File: a", "@@ class A:", "@@", "-1", "+2"),
    [update("a", chunk(["1"], ["2"], { anchors: ["class A:"] }))],
  ],
  [
    "an empty line is an empty context line",
    patch("*** Update File: a", "@@", " x", "", "+y"),
    [update("a", chunk(["x", ""], ["x", "", "y"]))],
  ],
  [
    "a chunk without @@ may start with an empty context line",
    patch("*** Update File: a", "", "+y"),
    [update("a", chunk([""], ["", "y"]))],
  ],
  [
    "a chunk may be tied to the end of the file",
    patch("*** Update File: a", "@@", "-1", "+2", "*** End of File", "@@", "+x"),
    [update("a", chunk(["1"], ["2"], { endOfFile: true }), chunk([], ["x"]))],
  ],
  [
    "a moved file may be changed on the way",
    patch("*** Update File: a", "*** Move to: b/c", "@@", "-1", "+2"),
    [{ kind: "update", path: "a", moveTo: "b/c", chunks: [chunk(["1"], ["2"])] }],
  ],
  [
    "a moved file may stay as it is",
    patch("*** Update File: a", "*** Move to: b"),
    [{ kind: "update", path: "a", moveTo: "b", chunks: [] }],
  ],
  [
    "several files follow each other",
    patch("*** Add File: a", "+1", "*** Delete File: b", "*** Update File: c", "+2", "*** Add File: d"),
    [
      { kind: "add", path: "a", content: "1\n" },
      { kind: "delete", path: "b" },
      update("c", chunk([], ["2"])),
      { kind: "add", path: "d", content: "" },
    ],
  ],
  [
    "spaces around markers do not count",
    " *** Begin Patch \n  *** Update File:   a  \n *** Move to:  b \n@@  \n-1\n+2\n*** End of File  \n  *** End Patch\t\n",
    [{ kind: "update", path: "a", moveTo: "b", chunks: [chunk(["1"], ["2"], { endOfFile: true })] }],
  ],
  [
    "blank lines between files and in front of @@ do not count",
    patch("", "*** Add File: a", "+1", "", "*** Update File: c", "", "@@", "+2"),
    [{ kind: "add", path: "a", content: "1\n" }, update("c", chunk([], ["2"]))],
  ],
  [
    "a patch written with CRLF means the same",
    patch("*** Add File: a", "+1", "*** Update File: c", "@@ x", " y", "-2").replaceAll("\n", "\r\n"),
    [{ kind: "add", path: "a", content: "1\n" }, update("c", chunk(["y", "2"], ["y"], { anchors: ["x"] }))],
  ],
  [
    "marker-like text is content once it has a line prefix",
    patch("*** Update File: a", "@@", " *** End Patch", "-*** Add File: x", "+@@"),
    [update("a", chunk(["*** End Patch", "*** Add File: x"], ["*** End Patch", "@@"]))],
  ],
  ...["<<'EOF'", '<<"EOF"', "<<EOF", "apply_patch <<'EOF'", "apply_patch << 'EOF'"].map(
    (opening): [string, string, Edit[]] => [
      `a patch inside ${opening} is unwrapped`,
      `${opening}\n${patch("*** Delete File: a")}\nEOF\n`,
      [{ kind: "delete", path: "a" }],
    ],
  ),
];

const refused: [string, string, string][] = [
  ["nothing at all", "", "invalid patch: the first line must be '*** Begin Patch'"],
  ["text in front", "Here:\n*** Begin Patch\n*** End Patch", "invalid patch: the first line must be '*** Begin Patch'"],
  ["no end", "*** Begin Patch\n*** Delete File: a", "invalid patch: the last line must be '*** End Patch'"],
  ["text behind", `${patch("*** Delete File: a")}\nok`, "invalid patch: the last line must be '*** End Patch'"],
  ["one marker only", "*** Begin Patch", "invalid patch: the last line must be '*** End Patch'"],
  ["an empty patch", patch(), "invalid patch: it names no file; expected '*** Add File: {path}'"],
  [
    "an unknown header",
    patch("*** Frobnicate File: a"),
    "invalid hunk at line 2, '*** Frobnicate File: a' is not a file header",
  ],
  [
    "a header without a path",
    patch("*** Delete File: a", "*** Add File:"),
    "invalid hunk at line 3, '*** Add File:' names no file",
  ],
  [
    "a move without a path",
    patch("*** Update File: a", "*** Move to: "),
    "invalid hunk at line 3, '*** Move to:' names no file",
  ],
  ["an empty update", patch("*** Update File: a"), "invalid hunk at line 2, the update of 'a' is empty; expected '@@'"],
  [
    "an empty chunk",
    patch("*** Update File: a", "@@"),
    "invalid hunk at line 4, unexpected line '*** End Patch' in an update; expected a line starting with ' '",
  ],
  [
    "an end of file without lines",
    patch("*** Update File: a", "*** End of File"),
    "invalid hunk at line 3, unexpected line '*** End of File'",
  ],
  [
    "a line without a prefix",
    patch("*** Update File: a", "@@", " x", "y"),
    "invalid hunk at line 5, unexpected line 'y'",
  ],
  ["@@ glued to its text", patch("*** Update File: a", "@@x", "+y"), "invalid hunk at line 3, unexpected line '@@x'"],
  [
    "a second chunk without @@",
    patch("*** Update File: a", "+x", "*** End of File", "+y"),
    "invalid hunk at line 5, '+y' does not start a chunk; expected '@@'",
  ],
  [
    "a line without plus in an added file",
    patch("*** Add File: a", "+x", "y"),
    "invalid hunk at line 4, 'y' is not a file header",
  ],
  ["lines after a deletion", patch("*** Delete File: a", "-x"), "invalid hunk at line 3, '-x' is not a file header"],
  ["a heredoc that never ends", `<<'EOF'\n${patch("*** Delete File: a")}`, "invalid patch: the first line must be"],
];

describe("a patch is accepted", () => {
  test.each(accepted)("%s", (_name, text, edits) => {
    expect(parsePatch(text)).toEqual({ kind: "patch", edits });
  });
});

describe("a patch is refused, saying what was expected", () => {
  test.each(refused)("%s", (_name, text, message) => {
    expect(parsePatch(text)).toEqual({ kind: "invalid", message: expect.stringContaining(message) });
  });
});

test("any edits written as a patch are read back as they were", () => {
  fc.assert(
    fc.property(someEdits, fc.constantFrom("\n", "\r\n"), (edits, newline) => {
      expect(parsePatch(renderPatch(edits).replaceAll("\n", newline))).toEqual({ kind: "patch", edits });
    }),
    { numRuns },
  );
});

test("garbage is refused or read, but never throws", () => {
  const words = [...Object.values(marker), "\n", "\r\n", " ", "+", "-", "a", "<<'EOF'\n", "EOF", "\u0000", "…"];
  const soup = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: "binary" })), { maxLength: 40 });
  fc.assert(
    fc.property(soup, fc.boolean(), (pieces, framed) => {
      const text = framed ? patch(pieces.join("")) : pieces.join("");
      const parsed = parsePatch(text);
      if (parsed.kind === "invalid") expect(parsed.message).toMatch(/^invalid (patch: |hunk at line \d+, )/);
      else expect(parsed.edits.length).toBeGreaterThan(0);
      readEmbeddedPatch(text);
    }),
    { numRuns: numRuns * 5 },
  );
});

test("the grammar names every marker of the language", () => {
  for (const word of Object.values(marker)) expect(patchGrammar).toContain(`"${word}"`);
});
