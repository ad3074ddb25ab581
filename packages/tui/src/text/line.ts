// A line of styled text, and how it is divided into rows of a terminal.
import { widthOf } from "@agentcli/surfaces/columns";

export type Color = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

export interface Style {
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
  color?: Color;
  /** An address, for terminals that open links. */
  link?: string;
}

export interface Span {
  text: string;
  style?: Style;
}

export type Line = Span[];

export const span = (text: string, style?: Style): Span => (style ? { text, style } : { text });

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0);

export const plainLine = (line: Line): string => line.map(({ text }) => text).join("");

/** Cut at the last column, with an ellipsis. */
export function cutLine(line: Line, columns: number): Line {
  if (lineWidth(line) <= columns) return line;
  const cut: Line = [];
  let left = Math.max(0, columns - 1);
  for (const { text, style } of line) {
    const head = headOf(text, left);
    cut.push(span(head, style));
    left -= widthOf(head);
    if (head.length < text.length) break;
  }
  return [...cut, span("…")];
}

export interface WrapOptions {
  columns: number;
  /** In front of the first row, and of the others. */
  first?: Line;
  rest?: Line;
}

/** Rows of at most `columns`, divided between words. A word without spaces that is an address stays whole on its own row. */
export function wrapLine(line: Line, { columns, first = [], rest = [] }: WrapOptions): Line[] {
  if (lineWidth(line) <= columns - lineWidth(first)) return [[...first, ...line]];
  const rows: Line[] = [];
  let row: Line = [];
  let width = 0;
  const room = () => Math.max(8, columns - lineWidth(rows.length === 0 ? first : rest));
  const end = () => {
    rows.push([...(rows.length === 0 ? first : rest), ...row]);
    row = [];
    width = 0;
  };
  const put = (text: string, style: Style | undefined) => {
    row.push(span(text, style));
    width += widthOf(text);
  };
  for (const { text, style } of line) {
    for (const word of text.split(/(?<= )(?=[^ ])/)) {
      const bare = word.trimEnd();
      if (width > 0 && width + widthOf(bare) > room()) end();
      if (widthOf(bare) <= room() || isAddress(bare)) put(width + widthOf(word) > room() ? bare : word, style);
      else
        for (const piece of pieces(word, room(), () => room() - width)) [width >= room() && end(), put(piece, style)];
    }
  }
  end();
  return rows;
}

const isAddress = (word: string): boolean => /^<?https?:\/\/\S+$/.test(word);

/** A word longer than a row, in pieces that fill rows. */
function* pieces(word: string, room: number, left: () => number): Generator<string> {
  let rest = word;
  while (rest !== "") {
    const free = left();
    const head = headOf(rest, free > 0 ? free : room) || rest.slice(0, [...rest][0]?.length ?? 1);
    yield head;
    rest = rest.slice(head.length);
  }
}

/** The beginning of a text that fits into the columns. */
export function headOf(text: string, columns: number): string {
  if (isAscii.test(text)) return text.slice(0, Math.max(0, columns));
  let width = 0;
  let end = 0;
  for (const { segment } of graphemes(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

const isAscii = /^[\x20-\x7e]*$/;
let segmenter: Intl.Segmenter | undefined;

/** Characters as users see them. */
export function graphemes(text: string): Iterable<{ segment: string; index: number }> {
  // Made when a text needs it: not before the first paint.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}
