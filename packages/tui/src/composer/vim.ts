// Keys as in vi, for those who want them: moving and changing without typing.
import {
  type Buffer,
  cutOut,
  insert,
  left,
  lineEnd,
  lineStart,
  moved,
  removed,
  right,
  vertical,
  wordLeft,
  wordRight,
} from "./buffer.ts";

export interface VimState {
  mode: "insert" | "normal";
  /** An operator that waits for its motion. */
  pending: "" | "d" | "c";
}

export interface VimStep {
  buffer: Buffer;
  vim: VimState;
}

type Move = (buffer: Buffer) => number;

const endOfWord: Move = ({ text, cursor }) =>
  cursor + (/^.[^\p{L}\p{N}_]*[\p{L}\p{N}_]*(?=[\p{L}\p{N}_])/su.exec(text.slice(cursor))?.[0].length ?? 0);
const nextWord: Move = ({ text, cursor }) =>
  cursor + (/^[\p{L}\p{N}_]*[^\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);

const motions: Record<string, Move> = {
  h: left,
  l: right,
  w: nextWord,
  b: wordLeft,
  e: endOfWord,
  "0": lineStart,
  "^": lineStart,
  $: lineEnd,
};

const normal: VimState = { mode: "normal", pending: "" };
const insertMode: VimState = { mode: "insert", pending: "" };

/** Escape: the cursor steps back onto the last character, as in vi. */
export const leaveInsert = (buffer: Buffer): VimStep => ({
  buffer: buffer.cursor > lineStart(buffer) ? moved(buffer, left) : buffer,
  vim: normal,
});

/** One character in normal mode. */
export function vimKey(buffer: Buffer, { pending }: VimState, key: string): VimStep {
  if (pending) return operate(buffer, pending, key);
  const motion = motions[key];
  if (motion) return { buffer: moved(buffer, motion), vim: normal };
  if (key === "j" || key === "k")
    return { buffer: vertical(buffer, key === "j" ? "down" : "up") ?? buffer, vim: normal };
  if (key === "d" || key === "c") return { buffer, vim: { mode: "normal", pending: key } };
  const edited = edits[key]?.(buffer);
  if (edited) return { buffer: edited, vim: normal };
  const entered = entries[key]?.(buffer);
  return entered ? { buffer: entered, vim: insertMode } : { buffer, vim: normal };
}

type Edit = (buffer: Buffer) => Buffer;

const edits: Record<string, Edit> = {
  x: (buffer) => cutOut(buffer, right),
  X: (buffer) => cutOut(buffer, left),
  D: (buffer) => cutOut(buffer, lineEnd),
  p: (buffer) => insert(moved(buffer, right), buffer.cut),
  P: (buffer) => insert(buffer, buffer.cut),
};

/** These go on with typing. */
const entries: Record<string, Edit> = {
  i: (buffer) => buffer,
  a: (buffer) => (buffer.cursor < lineEnd(buffer) ? moved(buffer, right) : buffer),
  I: (buffer) => moved(buffer, lineStart),
  A: (buffer) => moved(buffer, lineEnd),
  o: (buffer) => insert(moved(buffer, lineEnd), "\n"),
  O: (buffer) => moved(insert(moved(buffer, lineStart), "\n"), left),
  C: (buffer) => cutOut(buffer, lineEnd),
  s: (buffer) => removed(buffer, right),
};

/** `dw`, `cw`, `dd`, `cc` and the like; another key ends the operator. */
function operate(buffer: Buffer, operator: "d" | "c", key: string): VimStep {
  const vim = operator === "c" ? insertMode : normal;
  if (key === operator) return { buffer: wholeLine(buffer, operator), vim };
  // As in vi, `cw` leaves the space after the word.
  const motion = operator === "c" && key === "w" ? wordRight : motions[key];
  if (!motion) return { buffer, vim: normal };
  const isInclusive = key === "e";
  return { buffer: cutOut(buffer, isInclusive ? (at) => right({ ...at, cursor: endOfWord(at) }) : motion), vim };
}

function wholeLine(buffer: Buffer, operator: "d" | "c"): Buffer {
  const start = moved(buffer, lineStart);
  const isLast = lineEnd(start) === buffer.text.length;
  return cutOut(start, (at) => (operator === "d" && !isLast ? lineEnd(at) + 1 : lineEnd(at)));
}
