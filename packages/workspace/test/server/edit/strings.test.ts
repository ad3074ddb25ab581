// Exact replacement of text, and cells of notebooks.
import type { Edit } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../../src/server/edit/index.ts";
import { makeTree, readTree } from "../../support/file-tree.ts";

const replace = (old: string, after: string, more: { all?: boolean; count?: number } = {}): Edit => ({
  kind: "replace",
  path: "a",
  old,
  new: after,
  all: false,
  ...more,
});

interface Scenario {
  name: string;
  before: string;
  edit: Edit;
  after?: string;
  lines?: object[];
  message?: string;
}

const scenarios: Scenario[] = [
  {
    name: "one occurrence is replaced, and its lines are named",
    before: "1\n2\n3",
    edit: replace("2\n", "two\n2.5\n"),
    after: "1\ntwo\n2.5\n3",
    lines: [{ from: 2, to: 4 }],
  },
  {
    name: "several occurrences are refused with their lines",
    before: "x = 1\ny\nx = 1\n",
    edit: replace("x = 1", "x = 2"),
    message: "old_string occurs 2 times in a (line 1, 3). Give more of the text around the one that is meant",
  },
  {
    name: "all are replaced on request",
    before: "x y x\nx\n",
    edit: replace("x", "z", { all: true }),
    after: "z y z\nz\n",
  },
  { name: "the expected number is replaced", before: "x\nx\n", edit: replace("x", "z", { count: 2 }), after: "z\nz\n" },
  {
    name: "another number than expected is refused",
    before: "x\nx\n",
    edit: replace("x", "z", { count: 3 }),
    message: "old_string occurs 2 times in a (line 1, 2), not 3 as expected. Nothing was changed.",
  },
  {
    name: "white space counts, and the nearest lines are shown",
    before: "def f():\n\treturn 1\n",
    edit: replace("def f():\n    return 1", "x"),
    message: "Failed to find old_string in a. It must match exactly, with white space.\n\nNearest match at line 1",
  },
  { name: "a dollar sign is only a dollar sign", before: "a\n", edit: replace("a", "$& $1"), after: "$& $1\n" },
  {
    name: "line feeds of a model fit a file with CRLF, which keeps it",
    before: "1\r\n2\r\n3\r\n",
    edit: replace("1\n2", "one\ntwo"),
    after: "one\r\ntwo\r\n3\r\n",
  },
  { name: "the same text twice is refused", before: "a", edit: replace("a", "a"), message: "are the same" },
];

test.each(scenarios)("$name", async ({ before, edit, after, lines, message }) => {
  const root = await makeTree({ a: before });
  const result = await applyEdits({ root, writable: [root] }, { edits: [edit] });
  expect(await readTree(root)).toEqual({ a: after ?? before });
  if (message) expect(result).toEqual({ kind: "refused", message: expect.stringContaining(message) });
  else expect(result).toMatchObject({ files: [{ path: "a", kind: "update", ...(lines && { lines }) }] });
});

const cells = [
  { cell_type: "markdown", id: "intro", metadata: { tags: ["x"] }, source: ["# Title\n", "text"] },
  {
    cell_type: "code",
    execution_count: 3,
    id: "c0de",
    metadata: {},
    outputs: [{ output_type: "stream" }],
    source: ["1"],
  },
];
const notebook = (indent: number | string, list: object[] = cells) =>
  `${JSON.stringify({ cells: list, metadata: { kernelspec: { name: "python3" } }, nbformat: 4, nbformat_minor: 5 }, null, indent)}\n`;
const cell = (action: "replace" | "insert" | "delete", more: object): Edit => ({
  kind: "cell",
  path: "a.ipynb",
  action,
  ...more,
});

async function edited(before: string, edit: Edit): Promise<string> {
  const root = await makeTree({ "a.ipynb": before });
  const result = await applyEdits({ root, writable: [root] }, { edits: [edit] });
  return result.kind === "refused" ? result.message : ((await readTree(root))["a.ipynb"] ?? "");
}

describe.each([1, 2, "\t", 0])("a notebook with indentation %j", (indent) => {
  test("a cell is replaced by id or index, without its old results and with all else as it was", async () => {
    const after = [cells[0] ?? {}, { ...cells[1], execution_count: null, outputs: [], source: ["a\n", "b"] }];
    expect(await edited(notebook(indent), cell("replace", { cell: "c0de", source: "a\nb" }))).toBe(
      notebook(indent, after),
    );
    expect(await edited(notebook(indent), cell("replace", { cell: 1, source: "a\nb" }))).toBe(notebook(indent, after));
  });

  test("a cell is deleted at each position", async () => {
    expect(await edited(notebook(indent), cell("delete", { cell: 0 }))).toBe(notebook(indent, cells.slice(1)));
    expect(await edited(notebook(indent), cell("delete", { cell: 1 }))).toBe(notebook(indent, cells.slice(0, 1)));
    expect(await edited(notebook(indent, cells.slice(1)), cell("delete", { cell: "c0de" }))).toBe(notebook(indent, []));
  });

  test("a cell is inserted at an index, behind an id and at the end", async () => {
    const positions: [object, number, object[]][] = [
      [{ cell: 0 }, 0, cells],
      [{ cell: "intro" }, 1, cells],
      [{}, 2, cells],
      [{}, 0, []],
    ];
    for (const [where, at, list] of positions) {
      const text = await edited(
        notebook(indent, list),
        cell("insert", { ...where, source: "new", cellType: "markdown" }),
      );
      const value = JSON.parse(text);
      expect(value.cells[at]).toEqual({
        cell_type: "markdown",
        id: expect.stringMatching(/^[0-9a-f]{8}$/),
        metadata: {},
        source: ["new"],
      });
      expect(indent === 0 ? text.replaceAll(", {", ",{") : text).toBe(notebook(indent, value.cells));
    }
  });
});

test("cells that are not there and files that are no notebook are refused with what to do", async () => {
  expect(await edited(notebook(1), cell("delete", { cell: 2 }))).toContain(
    "there is no cell 2; it has 2 cells, counted from 0",
  );
  expect(await edited(notebook(1), cell("replace", { source: "x" }))).toContain("Specify one by index or id");
  expect(await edited("{}", cell("delete", { cell: 0 }))).toContain("it is not a notebook");
  expect(await edited("{", cell("delete", { cell: 0 }))).toContain("it is not a notebook");
});

test("any notebook stays valid, and changes only in the cell that is replaced", async () => {
  const text = fc.string({ unit: "binary", maxLength: 20 });
  const someCell = fc.record({
    source: fc.oneof(text, fc.array(text)),
    cell_type: fc.constantFrom("code", "raw"),
    metadata: fc.dictionary(text, fc.jsonValue()),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(someCell, { minLength: 1, maxLength: 4 }), fc.nat(3), text, async (list, at, source) => {
      const index = at % list.length;
      const before = { a: { cells: [] }, cells: list, nbformat: 4 };
      const after = JSON.parse(await edited(JSON.stringify(before, null, 1), cell("replace", { cell: index, source })));
      const joined = (value: string | string[]) => (Array.isArray(value) ? value.join("") : value);
      const expected = structuredClone(JSON.parse(JSON.stringify(before)));
      expect(joined(after.cells[index].source)).toBe(source);
      expected.cells[index].source = after.cells[index].source;
      expect(after).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});
