// The text being written as rows, with the cursor.
import { widthOf } from "@agentcli/surfaces/columns";
import { graphemes, type Line, span, visible } from "../text/index.ts";
import type { Buffer } from "./buffer.ts";

export interface ComposerRows {
  rows: Line[];
  cursor: { row: number; column: number };
}

export interface ComposerLook {
  columns: number;
  /** More are scrolled. */
  maxRows: number;
  placeholder: string;
  mark: Line;
}

/** Rows break at the last column; the cursor is the terminal's own, for input methods and screen readers. */
export function composerRows(buffer: Buffer, { columns, maxRows, placeholder, mark }: ComposerLook): ComposerRows {
  if (buffer.text === "")
    return {
      rows: [[...mark, span(placeholder.slice(0, Math.max(0, columns - 4)), { dim: true })]],
      cursor: { row: 0, column: 2 },
    };
  const { rows, cursor } = divide(buffer, Math.max(4, columns - 3));
  const from = Math.max(0, Math.min(cursor.row - Math.floor(maxRows / 2), rows.length - maxRows));
  const shown = rows.slice(from, from + maxRows);
  return {
    rows: shown.map((row, index) => [...(index + from === 0 ? mark : [span("  ")]), ...row]),
    cursor: { row: cursor.row - from, column: cursor.column + 2 },
  };
}

function divide({ text, cursor, pastes }: Buffer, columns: number): ComposerRows {
  const rows: Line[] = [[]];
  const found = { row: 0, column: 0 };
  let width = 0;
  let at = 0;
  const put = (piece: string, isMark: boolean) => {
    const size = widthOf(piece);
    if (width + size > columns && width > 0) {
      rows.push([]);
      width = 0;
    }
    if (at === cursor) Object.assign(found, { row: rows.length - 1, column: width });
    rows.at(-1)?.push(isMark ? span(piece, { color: "magenta" }) : span(piece));
    width += size;
  };
  for (const piece of piecesOf(text, Object.keys(pastes))) {
    if (piece === "\n") {
      if (at === cursor) Object.assign(found, { row: rows.length - 1, column: width });
      rows.push([]);
      width = 0;
    } else put(piece.length > 4 && piece in pastes ? piece : visible(piece), piece in pastes);
    at += piece.length;
  }
  if (cursor >= at) Object.assign(found, { row: rows.length - 1, column: width });
  return { rows: rows.map(joined), cursor: found };
}

function* piecesOf(text: string, marks: string[]): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const mark = text[at] === "[" ? marks.find((each) => text.startsWith(each, at)) : undefined;
    if (mark) {
      yield mark;
      at += mark.length;
      continue;
    }
    const end = text.indexOf("[", at + 1);
    const run = text.slice(at, end < 0 ? text.length : end);
    for (const { segment } of graphemes(run)) yield segment;
    at += run.length;
  }
}

/** Neighbours of the same style become one span. */
function joined(row: Line): Line {
  const line: Line = [];
  for (const piece of row) {
    const last = line.at(-1);
    if (last && last.style === undefined && piece.style === undefined) last.text += piece.text;
    else line.push({ ...piece });
  }
  return line;
}
