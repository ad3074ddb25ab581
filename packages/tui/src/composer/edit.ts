// Keys that edit the text.
import type { Key } from "../terminal/index.ts";
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

/** Null where the key does not edit. */
export function edit(buffer: Buffer, key: Key): Buffer | null {
  const { name } = key;
  if (isNewline(key)) return insert(buffer, "\n");
  if (key.ctrl && !key.alt && controls[name]) return controls[name](buffer);
  if (key.alt && !key.ctrl && alternates[name]) return alternates[name](buffer);
  if (key.ctrl || key.alt) return null;
  if (name === "up" || name === "down") return vertical(buffer, name);
  return keys[name]?.(buffer) ?? null;
}

/** Enter sends; these begin a new line. */
const isNewline = ({ name, ctrl, alt, shift }: Key): boolean =>
  (name === "j" && ctrl) || (name === "enter" && (alt || shift || ctrl));

type Edit = (buffer: Buffer) => Buffer;

const controls: Record<string, Edit> = {
  a: (buffer) => moved(buffer, lineStart),
  b: (buffer) => moved(buffer, left),
  d: (buffer) => removed(buffer, right),
  e: (buffer) => moved(buffer, lineEnd),
  f: (buffer) => moved(buffer, right),
  h: (buffer) => removed(buffer, left),
  k: (buffer) => cutOut(buffer, lineEnd),
  left: (buffer) => moved(buffer, wordLeft),
  right: (buffer) => moved(buffer, wordRight),
  u: (buffer) => cutOut(buffer, lineStart),
  w: (buffer) => cutOut(buffer, wordLeft),
  backspace: (buffer) => cutOut(buffer, wordLeft),
  y: (buffer) => insert(buffer, buffer.cut),
};

const alternates: Record<string, Edit> = {
  b: (buffer) => moved(buffer, wordLeft),
  f: (buffer) => moved(buffer, wordRight),
  d: (buffer) => cutOut(buffer, wordRight),
  left: (buffer) => moved(buffer, wordLeft),
  right: (buffer) => moved(buffer, wordRight),
  backspace: (buffer) => cutOut(buffer, wordLeft),
};

const keys: Record<string, Edit> = {
  left: (buffer) => moved(buffer, left),
  right: (buffer) => moved(buffer, right),
  home: (buffer) => moved(buffer, lineStart),
  end: (buffer) => moved(buffer, lineEnd),
  backspace: (buffer) => removed(buffer, left),
  delete: (buffer) => removed(buffer, right),
};
