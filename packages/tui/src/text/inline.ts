// Markdown within a line: emphasis, code and links.
import { type Line, type Style, span } from "./line.ts";

const marks =
  /`+|\*\*|__|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)|\[|https?:\/\/[^\s<>()`]+|\\[!-/:-@[-`{-~]/g;

/** Most lines have none. */
const canBeMark = /[`*_~[\\]|https?:/;

/** One pass from left to right; a mark without its counterpart is shown as it is. */
export function inline(text: string, base: Style = {}): Line {
  if (text !== "" && !canBeMark.test(text)) return [Object.keys(base).length === 0 ? span(text) : span(text, base)];
  const line: Line = [];
  const open = new Map<string, true>();
  let at = 0;
  const put = (piece: string, style: Style = {}) => {
    if (piece !== "") line.push(span(piece, { ...base, ...emphasis(open), ...style }));
  };
  const scan = new RegExp(marks.source, "g");
  for (let found = scan.exec(text); found; found = scan.exec(text)) {
    const [mark] = found;
    const taken = takeMark({ text, index: found.index, mark, open });
    if (!taken) continue;
    put(text.slice(at, found.index));
    if (taken.kind === "toggle") open.has(taken.name) ? open.delete(taken.name) : open.set(taken.name, true);
    else for (const piece of taken.pieces) put(piece.text, piece.style);
    at = taken.end;
    scan.lastIndex = at;
  }
  put(text.slice(at));
  return line;
}

type Taken = { kind: "toggle"; name: string; end: number } | { kind: "text"; pieces: Line; end: number };

interface FoundMark {
  text: string;
  index: number;
  mark: string;
  open: Map<string, true>;
}

function takeMark({ text, index, mark, open }: FoundMark): Taken | null {
  if (mark.startsWith("`")) return takeCode(text, index, mark);
  if (mark === "[") return takeLink(text, index);
  if (mark.startsWith("\\")) return { kind: "text", pieces: [span(mark.slice(1))], end: index + 2 };
  if (mark.startsWith("http")) {
    const link = mark.replace(/[.,;:!?'"]+$/, "");
    return { kind: "text", pieces: [span(link, { underline: true, color: "blue", link })], end: index + link.length };
  }
  const end = index + mark.length;
  const isClosed = open.has(mark) || hasCounterpart(text, mark, end);
  return isClosed ? { kind: "toggle", name: mark, end } : null;
}

/** Within reach: a long text with thousands of single marks is not searched to its end for each of them. */
const hasCounterpart = (text: string, mark: string, from: number): boolean =>
  text.slice(from, from + maxReach).includes(mark);
const maxReach = 2000;

function takeCode(text: string, index: number, ticks: string): Taken | null {
  const start = index + ticks.length;
  const length = text.slice(start, start + maxReach).indexOf(ticks);
  if (length < 0) return null;
  const code = text.slice(start, start + length);
  const shown = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "" ? code.slice(1, -1) : code;
  return { kind: "text", pieces: [span(shown, { color: "cyan" })], end: start + length + ticks.length };
}

/** The address is always shown: a text of the model must not hide where its link leads. */
function takeLink(text: string, index: number): Taken | null {
  const found = /^\[([^\]\n]{1,300})\]\(([^\s()]{1,2000})\)/.exec(text.slice(index, index + maxReach + 400));
  if (!found) return null;
  const [whole, label = "", link = ""] = found;
  const style: Style = { underline: true, color: "blue", link };
  const pieces = label === link ? [span(label, style)] : [span(label, style), span(` (${link})`, { dim: true })];
  return { kind: "text", pieces, end: index + whole.length };
}

function emphasis(open: Map<string, true>): Style {
  return {
    ...((open.has("**") || open.has("__")) && { bold: true as const }),
    ...((open.has("*") || open.has("_")) && { italic: true as const }),
    ...(open.has("~~") && { strike: true as const }),
  };
}
