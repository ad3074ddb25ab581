// The text being written: a cursor, editing by characters and words as users see them, large pastes as one mark.
import { graphemes } from "../text/index.ts";

export interface Buffer {
  text: string;
  /** In UTF-16 units. */
  cursor: number;
  /** Pasted texts by the mark that stands for each. */
  pastes: Record<string, string>;
  /** Cut last, for Ctrl-Y. */
  cut: string;
}

export const emptyBuffer = (text = ""): Buffer => ({ text, cursor: text.length, pastes: {}, cut: "" });

export const isEmpty = ({ text }: Buffer): boolean => text.trim() === "";

export function insert(buffer: Buffer, text: string): Buffer {
  const { text: before, cursor } = buffer;
  return { ...buffer, text: before.slice(0, cursor) + text + before.slice(cursor), cursor: cursor + text.length };
}

const maxPastedLines = 8;
const maxPastedCharacters = 1200;

/** A long paste is shown as a mark; the whole text is sent. */
export function insertPaste(buffer: Buffer, text: string): Buffer {
  const lines = text.split("\n").length;
  if (lines <= maxPastedLines && text.length <= maxPastedCharacters) return insert(buffer, text);
  const size =
    lines > maxPastedLines ? `${lines.toLocaleString("en")} lines` : `${text.length.toLocaleString("en")} characters`;
  const mark = `[Pasted text #${Object.keys(buffer.pastes).length + 1}: ${size}]`;
  return insert({ ...buffer, pastes: { ...buffer.pastes, [mark]: text } }, mark);
}

/** With pasted texts in the place of their marks. */
export const wholeText = ({ text, pastes }: Buffer): string =>
  Object.entries(pastes).reduce((whole, [mark, pasted]) => whole.split(mark).join(pasted), text);

type Move = (buffer: Buffer) => number;

const markEnding = ({ text, cursor, pastes }: Buffer): string | undefined =>
  Object.keys(pastes).find((mark) => text.slice(0, cursor).endsWith(mark));
const markStarting = ({ text, cursor, pastes }: Buffer): string | undefined =>
  Object.keys(pastes).find((mark) => text.startsWith(mark, cursor));

export const left: Move = (buffer) => {
  const { text, cursor } = buffer;
  const mark = markEnding(buffer);
  if (mark) return cursor - mark.length;
  const start = Math.max(0, cursor - 64);
  const last = [...graphemes(text.slice(start, cursor))].at(-1);
  return last ? start + last.index : 0;
};

export const right: Move = (buffer) => {
  const { text, cursor } = buffer;
  const mark = markStarting(buffer);
  if (mark) return cursor + mark.length;
  for (const { segment } of graphemes(text.slice(cursor, cursor + 64))) return cursor + segment.length;
  return text.length;
};

export const wordLeft: Move = ({ text, cursor }) =>
  /(?:^|[^\p{L}\p{N}_])?[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, cursor))
    ? text
        .slice(0, cursor)
        .replace(/[^\p{L}\p{N}_]+$/u, "")
        .replace(/[\p{L}\p{N}_]+$/u, "").length
    : 0;

export const wordRight: Move = ({ text, cursor }) =>
  cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);

export const lineStart: Move = ({ text, cursor }) => text.lastIndexOf("\n", cursor - 1) + 1;

export const lineEnd: Move = ({ text, cursor }) => {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
};

export const moved = (buffer: Buffer, move: Move): Buffer => ({ ...buffer, cursor: move(buffer) });

/** Removes what lies between the cursor and where the move leads. */
export function removed(buffer: Buffer, move: Move): Buffer {
  const target = move(buffer);
  const [start, end] = target < buffer.cursor ? [target, buffer.cursor] : [buffer.cursor, target];
  return { ...buffer, text: buffer.text.slice(0, start) + buffer.text.slice(end), cursor: start };
}

/** The same, kept for Ctrl-Y. */
export function cutOut(buffer: Buffer, move: Move): Buffer {
  const target = move(buffer);
  const cut = buffer.text.slice(Math.min(target, buffer.cursor), Math.max(target, buffer.cursor));
  return { ...removed(buffer, move), cut };
}

/** One line up or down, in the same column; null at the first or last line. */
export function vertical(buffer: Buffer, direction: "up" | "down"): Buffer | null {
  const start = lineStart(buffer);
  const column = buffer.cursor - start;
  if (direction === "up" && start === 0) return null;
  const end = lineEnd(buffer);
  if (direction === "down" && end === buffer.text.length) return null;
  const target = direction === "up" ? lineStart({ ...buffer, cursor: start - 1 }) : end + 1;
  const last = lineEnd({ ...buffer, cursor: target });
  return { ...buffer, cursor: Math.min(target + column, last) };
}
