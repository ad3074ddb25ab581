// Where the cursor of a terminal is among pieces of its text.
import type { Piece } from "./ansi.ts";

export interface Cursor {
  line: number;
  column: number;
}

/** The character under the cursor has a piece of its own; lines that end before it are filled up. */
export function withCursor(pieces: Piece[], { line, column }: Cursor): Piece[] {
  const lines = pieces
    .map(({ text }) => text)
    .join("")
    .split("\n");
  const missing = Math.max(0, line + 1 - lines.length);
  const all = missing > 0 ? [...pieces, plain("\n".repeat(missing))] : pieces;
  const start = lines.slice(0, line).reduce((total, { length }) => total + length + 1, Math.max(0, missing - 1));
  const { length } = lines[line] ?? "";
  const [before, after] = splitAt(all, start + Math.min(column, length));
  const [under, rest] = splitAt(after, column < length ? 1 : 0);
  const cursor = { text: under.map(({ text }) => text).join("") || " ", style: "terminal-cursor" };
  return [...before, plain(" ".repeat(Math.max(0, column - length))), cursor, ...rest];
}

const plain = (text: string): Piece => ({ text, style: "" });

function splitAt(pieces: Piece[], offset: number): [Piece[], Piece[]] {
  let left = offset;
  const index = pieces.findIndex(({ text }) => {
    if (text.length > left) return true;
    left -= text.length;
    return false;
  });
  const cut = pieces[index];
  if (!cut) return [pieces, []];
  const { text, style } = cut;
  const head = left > 0 ? [{ text: text.slice(0, left), style }] : [];
  return [
    [...pieces.slice(0, index), ...head],
    [{ text: text.slice(left), style }, ...pieces.slice(index + 1)],
  ];
}
