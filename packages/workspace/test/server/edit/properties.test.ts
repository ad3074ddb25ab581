// What holds for every patch: it says what it does, and a failed one leaves no trace.
import type { Edit, EditChunk } from "@agentcli/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePatch } from "../../../../engine/src/patch/parse.ts";
import { renderPatch } from "../../../../engine/test/patch-text.ts";
import { applyEdits } from "../../../src/server/edit/index.ts";
import { fillTree, makeTree, readTree, snapshot, type Tree } from "../../support/file-tree.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

/** A file as a list of lines, each either kept, removed, or followed by new ones. */
const line = fc.oneof(fc.constantFrom("", "x", "x ", "  x", "}", "+", "-", "@@"), fc.string({ maxLength: 6 }));
const changes = fc.array(
  fc.record({
    text: line,
    fate: fc.constantFrom("kept", "kept", "kept", "removed"),
    added: fc.array(line, { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 25 },
);
type Change = { text: string; fate: string; added: string[] };

const beforeOf = (list: Change[]) => list.map((change) => change.text);
const afterOf = (list: Change[]) =>
  list.flatMap((change) => [...(change.fate === "kept" ? [change.text] : []), ...change.added]);

test("the patch made from any change of any file turns the one into the other", async () => {
  await fc.assert(
    fc.asyncProperty(
      changes,
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom("", "\ufeff"),
      async (list, ending, mark) => {
        const root = await makeTree({ a: mark + beforeOf(list).join(ending) + ending });
        const whole: EditChunk = { anchors: [], before: beforeOf(list), after: afterOf(list), endOfFile: false };
        const parsed = parsePatch(renderPatch([{ kind: "update", path: "a", chunks: [whole] }]));
        if (parsed.kind === "invalid") throw new Error(parsed.message);
        expect(await applyEdits({ root, writable: [root] }, { edits: parsed.edits })).toMatchObject({ kind: "edited" });
        const expected =
          mark +
          afterOf(list)
            .map((text) => text + ending)
            .join("");
        expect(await readTree(root)).toEqual({ a: expected });
      },
    ),
    { numRuns },
  );
});

test("separate hunks of a file with unlike lines change exactly their lines", async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.integer({ min: 0, max: 2 }), async (list, context) => {
      const unlike = list.map((change, index) => ({ ...change, text: `${index}: ${change.text}` }));
      const root = await makeTree({
        a: beforeOf(unlike)
          .map((text) => `${text}\n`)
          .join(""),
      });
      const chunks = hunksOf(unlike, context);
      if (chunks.length === 0) return;
      const parsed = parsePatch(renderPatch([{ kind: "update", path: "a", chunks }]));
      if (parsed.kind === "invalid") throw new Error(parsed.message);
      expect(await applyEdits({ root, writable: [root] }, { edits: parsed.edits })).toMatchObject({ kind: "edited" });
      const expected = afterOf(unlike)
        .map((text) => `${text}\n`)
        .join("");
      expect(await readTree(root)).toEqual({ a: expected });
    }),
    { numRuns },
  );
});

test("the hunks of a diff change exactly the lines it numbers, however often they occur", async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.integer({ min: 0, max: 2 }), async (list, context) => {
      const text = (all: string[]) => all.map((line) => `${line}\n`).join("");
      const hunks = hunksOf(list, context);
      if (hunks.length === 0) return;
      const root = await makeTree({ a: text(beforeOf(list)) });
      const parsed = parsePatch(["--- a/a", "+++ b/a", ...hunks.flatMap(renderHunk), ""].join("\n"));
      if (parsed.kind === "invalid") throw new Error(parsed.message);
      expect(await applyEdits({ root, writable: [root] }, { edits: parsed.edits })).toMatchObject({
        kind: "edited",
        files: [{ path: "a" }],
      });
      expect(await readTree(root)).toEqual({ a: text(afterOf(list)) });
    }),
    { numRuns },
  );
});

/** Removed lines before added ones: a diff need not be minimal. */
function renderHunk({ before, after, line = 1 }: EditChunk): string[] {
  const from = before.length === 0 ? line - 1 : line;
  return [
    `@@ -${from},${before.length} +${from},${after.length} @@`,
    ...before.map((text) => `-${text}`),
    ...after.map((text) => `+${text}`),
  ];
}

/** Cuts the file where more than two contexts of kept lines lie between changes, as diff does. */
function hunksOf(list: Change[], context: number): EditChunk[] {
  const touched = list.map((change) => change.fate === "removed" || change.added.length > 0);
  const near = list.map((_, index) => touched.slice(Math.max(0, index - context), index + context + 1).includes(true));
  const hunks: { line: number; changes: Change[] }[] = [];
  list.forEach((change, index) => {
    if (near[index] && !near[index - 1]) hunks.push({ line: index + 1, changes: [] });
    if (near[index]) hunks.at(-1)?.changes.push(change);
  });
  return hunks.map(({ line, changes: hunk }) => ({
    anchors: [],
    before: beforeOf(hunk),
    after: afterOf(hunk),
    endOfFile: false,
    line,
  }));
}

const tree: Tree = {
  a: "1\n2\n3\n",
  b: { content: "1\r\n2\r\n", mode: 0o755 },
  "d/c": "x\n",
  "d/e/f": { content: "x", mode: 0o600 },
  "empty/": "",
  latin: Buffer.from([0xe9]),
  link: { link: "d/c" },
  "link-to-directory": { link: "d" },
  out: { link: "/etc" },
  nothing: { link: "gone" },
};
const somePath = fc.oneof(
  fc.constantFrom(...Object.keys(tree), "d", "d/e", "new", "new/x", "new/x/y", "a/x", "empty/g", "link-to-directory/c"),
  fc.constantFrom("../x", "out/x", "nothing/x", "", "/nowhere/outside/x", "d/../a", `n/${"x".repeat(300)}`),
);
const someLines = fc.array(fc.constantFrom("1", "2", "3", "x", "", "no"), { maxLength: 2 });
const someChunk = fc.record({
  anchors: fc.array(fc.constantFrom("1", "x", "no"), { maxLength: 1 }),
  before: someLines,
  after: someLines,
  endOfFile: fc.boolean(),
});
const someEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), path: somePath, content: fc.constantFrom("", "n\n") }),
  fc.record({ kind: fc.constant("delete" as const), path: somePath }),
  fc.record(
    {
      kind: fc.constant("update" as const),
      path: somePath,
      moveTo: somePath,
      chunks: fc.array(someChunk, { maxLength: 2 }),
    },
    { requiredKeys: ["kind", "path", "chunks"] },
  ),
);

test("a patch that fails leaves every name, mode and byte as it was, and one that succeeds no temporary file", async () => {
  const outcomes = { edited: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(someEdit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const root = await makeTree({});
      await fillTree(root, tree);
      const asItWas = await snapshot(root);
      const answer = await applyEdits({ root, writable: [root] }, { edits });
      outcomes[answer.kind] += 1;
      const asItIs = await snapshot(root);
      if (answer.kind === "refused") expect(asItIs).toEqual(asItWas);
      else expect(Object.keys(asItIs).filter((path) => path.includes(".agentcli"))).toEqual([]);
    }),
    { numRuns: numRuns * 2 },
  );
  expect(Math.min(outcomes.edited, outcomes.refused)).toBeGreaterThan(numRuns / 20);
});
