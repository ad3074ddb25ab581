// Replaces, inserts or deletes one cell of a Jupyter notebook. All other text of the file stays as it was.
import { randomUUID } from "node:crypto";
import type { Edit } from "@agentcli/protocol";
import { itemsOf, membersOf, type Span, skipSpace } from "./json-spans.ts";
import { Refusal } from "./refusal.ts";

type CellEdit = Extract<Edit, { kind: "cell" }>;

interface Notebook {
  text: string;
  cells: Span;
  items: Span[];
  /** Of one level; empty for JSON on one line. */
  indent: string;
  /** Cells have ids since version 4.5 of the format. */
  hasIds: boolean;
}

export function editNotebook(text: string, displayPath: string, edit: CellEdit): string {
  const notebook = readNotebook(text, displayPath);
  switch (edit.action) {
    case "insert":
      return insertCell(notebook, edit, positionOf(notebook, displayPath, edit));
    case "delete":
      return deleteCell(notebook, positionOf(notebook, displayPath, edit));
    case "replace":
      return replaceCell(notebook, edit, positionOf(notebook, displayPath, edit));
  }
}

function readNotebook(text: string, displayPath: string): Notebook {
  const invalid = new Refusal(`Failed to edit ${displayPath}: it is not a notebook (JSON with a list of cells)`);
  let value: { cells?: unknown; nbformat?: number; nbformat_minor?: number };
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid;
  }
  if (typeof value !== "object" || value === null || !Array.isArray(value.cells)) throw invalid;
  const cells = membersOf(text, skipSpace(text, 0)).get("cells") as Span;
  const { nbformat = 4, nbformat_minor = 0 } = value;
  return {
    text,
    cells,
    items: itemsOf(text, cells.start),
    indent: /\n([ \t]+)"/.exec(text)?.[1] ?? "",
    hasIds: nbformat > 4 || (nbformat === 4 && nbformat_minor >= 5),
  };
}

/** The index of the cell; for an insertion, the index that the new one gets. */
function positionOf({ text, items }: Notebook, displayPath: string, { cell, action }: CellEdit): number {
  if (cell === undefined && action === "insert") return items.length;
  const byId = items.findIndex(
    ({ start, end }) => (JSON.parse(text.slice(start, end)) as { id?: unknown }).id === cell,
  );
  if (byId >= 0) return action === "insert" ? byId + 1 : byId;
  const index = typeof cell === "number" ? cell : /^\d+$/.test(cell ?? "") ? Number(cell) : -1;
  const last = action === "insert" ? items.length : items.length - 1;
  if (Number.isInteger(index) && index >= 0 && index <= last) return index;
  throw new Refusal(
    `Failed to edit ${displayPath}: there is no cell ${cell ?? "given"}; it has ${items.length} cells, counted from 0. Specify one by index or id.`,
  );
}

function replaceCell(notebook: Notebook, { source = "", cellType }: CellEdit, index: number): string {
  const { text } = notebook;
  const item = notebook.items[index] as Span;
  const old = JSON.parse(text.slice(item.start, item.end)) as {
    cell_type?: string;
    source?: unknown;
    id?: string;
    metadata?: object;
  };
  const type = cellType ?? old.cell_type ?? "code";
  if (type !== old.cell_type) {
    const cell = newCell({ type, source, id: old.id, metadata: old.metadata ?? {} });
    return spliced(text, item, rendered(notebook, cell, 2));
  }
  const values: Record<string, unknown> = {
    source: typeof old.source === "string" ? source : sourceLines(source),
    // The old results are not those of the new source.
    ...(type === "code" && { outputs: [], execution_count: null }),
  };
  const members = [...membersOf(text, item.start)].filter(([name]) => name in values);
  return members
    .sort(([, left], [, right]) => right.start - left.start)
    .reduce((result, [name, span]) => spliced(result, span, rendered(notebook, values[name], 3)), text);
}

function insertCell(notebook: Notebook, { source = "", cellType = "code" }: CellEdit, index: number): string {
  const { text, cells, items, indent, hasIds } = notebook;
  const id = hasIds ? randomUUID().slice(0, 8) : undefined;
  const cell = rendered(notebook, newCell({ type: cellType, source, id, metadata: {} }), 2);
  const lineBreak = indent === "" ? "" : `\n${indent.repeat(2)}`;
  const next = items[index];
  const last = items.at(-1);
  if (next) return spliced(text, { start: next.start, end: next.start }, `${cell},${lineBreak || " "}`);
  if (last) return spliced(text, { start: last.end, end: last.end }, `,${lineBreak || " "}${cell}`);
  return spliced(text, cells, `[${lineBreak}${cell}${indent === "" ? "" : `\n${indent}`}]`);
}

function deleteCell({ text, cells, items }: Notebook, index: number): string {
  const item = items[index] as Span;
  const [before, after] = [items[index - 1], items[index + 1]];
  if (after) return spliced(text, { start: item.start, end: after.start }, "");
  return before ? spliced(text, { start: before.end, end: item.end }, "") : spliced(text, cells, "[]");
}

interface NewCell {
  type: string;
  source: string;
  id: string | undefined;
  metadata: object;
}

/** Members in the order that Jupyter writes them. */
const newCell = ({ type, source, id, metadata }: NewCell): object => ({
  cell_type: type,
  ...(type === "code" && { execution_count: null }),
  ...(id !== undefined && { id }),
  metadata,
  ...(type === "code" && { outputs: [] }),
  source: sourceLines(source),
});

/** A list of lines with their ends, as Jupyter writes it. */
const sourceLines = (source: string): string[] => source.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** As JSON in the style of the file, for a place at this level. */
const rendered = ({ indent }: Notebook, value: unknown, level: number): string =>
  indent === ""
    ? JSON.stringify(value)
    : JSON.stringify(value, null, indent).replaceAll("\n", `\n${indent.repeat(level)}`);

const spliced = (text: string, { start, end }: Span, part: string): string =>
  text.slice(0, start) + part + text.slice(end);
