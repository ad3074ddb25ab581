// Edits by edit_file and edit_notebook as models write them, through the tools, inside each sandbox.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "@agentcli/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { editFile } from "../../../../engine/src/tools/edit-file.ts";
import { editNotebook } from "../../../../engine/src/tools/edit-notebook.ts";
import type { ToolContext } from "../../../../engine/src/tools/tool.ts";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import { fillTree, readTree, type Tree } from "../../support/file-tree.ts";
import { sandboxes, temporaryDirectory } from "../../support/locations.ts";

type Action = (args: never, context: ToolContext) => Promise<Outcome>;

interface Row {
  name: string;
  tool?: Action;
  files: Tree;
  /** With a path below the directory of the row. */
  args: Record<string, unknown> & { path: string };
  /** All of the answer that matters; the files stay as they were without `after`. */
  answers: string[];
  after?: Tree;
}

const go = "package main\n\nfunc main() {\n\tprintln(1)\n\tprintln(1)\n}\n";
const notebook = (...sources: string[]) =>
  `${JSON.stringify({ cells: sources.map((source) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: [source] })), metadata: {}, nbformat: 4, nbformat_minor: 4 }, null, 1)}\n`;

const rows: Row[] = [
  {
    name: "a line is replaced, and the answer has its number",
    files: { "a.py": "def f():\n    return 1\n" },
    args: { path: "a.py", old_string: "    return 1\n", new_string: "    return 2\n" },
    answers: ["Success. Updated the following files:\nM a.py", "a.py: changed lines 2"],
    after: { "a.py": "def f():\n    return 2\n" },
  },
  {
    name: "an ambiguous text is refused with its lines",
    files: { "main.go": go },
    args: { path: "main.go", old_string: "println(1)", new_string: "println(2)" },
    answers: ["old_string occurs 2 times in main.go (line 4, 5)", "set replace_all"],
  },
  {
    name: "all occurrences are replaced on request",
    files: { "main.go": go },
    args: { path: "main.go", old_string: "println(1)", new_string: "println(2)", replace_all: true },
    answers: ["M main.go"],
    after: { "main.go": go.replaceAll("(1)", "(2)") },
  },
  {
    name: "the expected number is replaced",
    files: { "main.go": go },
    args: { path: "main.go", old_string: "println(1)", new_string: "println(2)", expected_count: 2 },
    answers: ["M main.go"],
    after: { "main.go": go.replaceAll("(1)", "(2)") },
  },
  {
    name: "another number than expected changes nothing",
    files: { "main.go": go },
    args: { path: "main.go", old_string: "println(1)", new_string: "", expected_count: 3 },
    answers: ["not 3 as expected. Nothing was changed."],
  },
  {
    name: "spaces for a tab are refused, and the nearest lines are shown",
    files: { "main.go": go },
    args: { path: "main.go", old_string: "func main() {\n    println(1)", new_string: "x" },
    answers: ["Failed to find old_string in main.go", "Nearest match at line 3"],
  },
  {
    name: "a file with CRLF keeps it",
    files: { "a.txt": "one\r\ntwo\r\n" },
    args: { path: "a.txt", old_string: "one\ntwo", new_string: "1\n2" },
    answers: ["M a.txt"],
    after: { "a.txt": "1\r\n2\r\n" },
  },
  {
    name: "an empty old_string creates a file in a new directory",
    files: { "a.txt": "a" },
    args: { path: "src/new.ts", old_string: "", new_string: "export {};\n" },
    answers: ["A src/new.ts"],
    after: { "a.txt": "a", "src/new.ts": "export {};\n" },
  },
  {
    name: "an existing file is not created over",
    files: { "a.txt": "a" },
    args: { path: "a.txt", old_string: "", new_string: "b" },
    answers: ["Failed to add a.txt: it exists already"],
  },
  {
    name: "a missing file is named",
    files: { "a.txt": "a" },
    args: { path: "b.txt", old_string: "a", new_string: "b" },
    answers: ["b.txt"],
  },
  {
    name: "a text of several bytes is not split",
    files: { "a.md": "# Größe ≥ 1 🚀\n" },
    args: { path: "a.md", old_string: "≥ 1 🚀", new_string: "≤ 2 🛰" },
    answers: ["M a.md"],
    after: { "a.md": "# Größe ≤ 2 🛰\n" },
  },
  {
    name: "a cell of a notebook is replaced by its index",
    tool: editNotebook,
    files: { "a.ipynb": notebook("x = 1", "x") },
    args: { path: "a.ipynb", action: "replace", cell: 0, source: "x = 2" },
    answers: ["M a.ipynb"],
    after: { "a.ipynb": notebook("x = 2", "x") },
  },
  {
    name: "a cell is inserted at the end of a notebook",
    tool: editNotebook,
    files: { "a.ipynb": notebook("x = 1") },
    args: { path: "a.ipynb", action: "insert", source: "x" },
    answers: ["M a.ipynb"],
    after: { "a.ipynb": notebook("x = 1", "x") },
  },
  {
    name: "a cell is deleted",
    tool: editNotebook,
    files: { "a.ipynb": notebook("x = 1", "x") },
    args: { path: "a.ipynb", action: "delete", cell: 1 },
    answers: ["M a.ipynb"],
    after: { "a.ipynb": notebook("x = 1") },
  },
  {
    name: "a cell that is not there is refused with the number of cells",
    tool: editNotebook,
    files: { "a.ipynb": notebook("x = 1") },
    args: { path: "a.ipynb", action: "delete", cell: 7 },
    answers: ["there is no cell 7; it has 1 cell"],
  },
  {
    name: "a file without cells is refused",
    tool: editNotebook,
    files: { "a.ipynb": "{}" },
    args: { path: "a.ipynb", action: "delete", cell: 0 },
    answers: ["it is not a notebook"],
  },
];

describe.each(sandboxes)("inside %s", (_name, open) => {
  let root: string;
  let workspace: OpenedWorkspace;
  beforeAll(async () => {
    root = temporaryDirectory();
    workspace = await open({ mode: "workspace-write", root });
  });
  afterAll(async () => {
    await workspace.close();
    rmSync(root, { recursive: true });
  });

  const run = async ({ tool = editFile as Action, args }: Row, path: string) => {
    const outcome = await tool({ ...args, path } as never, { workspace } as unknown as ToolContext);
    return { ...outcome, answer: outcome.parts.map((part) => (part.type === "text" ? part.text : "")).join("") };
  };

  test.each(rows.map((row, index) => ({ ...row, index })))("$name", async (row) => {
    const directory = `case-${row.index}`;
    mkdirSync(join(root, directory));
    await fillTree(join(root, directory), row.files);
    const { status, answer } = await run(row, join(directory, row.args.path));
    const shown = answer.replaceAll(`${directory}/`, "");
    for (const text of row.answers) expect(shown).toContain(text);
    expect(await readTree(join(root, directory))).toEqual(row.after ?? row.files);
    expect(status).toBe(row.after ? "completed" : "failed");
  });

  test("a file outside what may be written is refused", async () => {
    const outside = temporaryDirectory();
    await fillTree(outside, { "a.txt": "a" });
    const edit = { name: "", files: {}, args: { path: "", old_string: "a", new_string: "b" }, answers: [] };
    expect((await run(edit, join(outside, "a.txt"))).status).toBe("failed");
    expect(await readTree(outside)).toEqual({ "a.txt": "a" });
    rmSync(outside, { recursive: true });
  });
});
