// Blocks of Markdown as rows: headings, lists, quotes, tables, code and paragraphs.
import { widthOf } from "@agentcli/surfaces/columns";
import { diffLine, highlight } from "./highlight.ts";
import { inline } from "./inline.ts";
import { cutLine, type Line, lineWidth, span, wrapLine } from "./line.ts";

/** One or several whole blocks. Texts must be free of control characters. */
export function markdown(text: string, columns: number): Line[] {
  const lines = text.split("\n");
  const rows: Line[] = [];
  for (let at = 0; at < lines.length; ) {
    const { shown, end } = takeBlock(lines, at, columns);
    rows.push(...shown);
    at = Math.max(end, at + 1);
  }
  return rows;
}

interface Block {
  shown: Line[];
  /** The index of the first line after it. */
  end: number;
}

function takeBlock(lines: string[], at: number, columns: number): Block {
  const line = lines[at] ?? "";
  const fence = openingFence(line);
  if (fence) return takeFence(lines, at, columns);
  if (isTable(lines, at)) return takeTable(lines, at, columns);
  if (line.trim() === "") return { shown: [[]], end: at + 1 };
  if (/^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/.test(line))
    return { shown: [[span("─".repeat(Math.min(columns, 24)), { dim: true })]], end: at + 1 };
  return { shown: textLine(line, columns), end: at + 1 };
}

/** A heading, an entry of a list, a quoted line or a line of a paragraph. */
function textLine(line: string, columns: number): Line[] {
  const heading = /^ {0,3}(#{1,6}) +(.*?)(?: +#+)?$/.exec(line);
  if (heading) {
    const style =
      (heading[1]?.length ?? 1) <= 2 ? { bold: true as const, underline: true as const } : { bold: true as const };
    return wrapLine(inline(heading[2] ?? "", style), { columns });
  }
  const quote = /^ {0,3}> ?(.*)$/.exec(line);
  if (quote) {
    const bar = [span("│ ", { dim: true })];
    return wrapLine(inline(quote[1] ?? "", { dim: true }), { columns, first: bar, rest: bar });
  }
  const entry = /^(\s*)([-*+]|\d{1,9}[.)])( +)(?:\[([ xX])\] )?(.*)$/.exec(line);
  if (!entry) return wrapLine(inline(line.trimEnd()), { columns });
  const [, indent = "", mark = "", , box, text = ""] = entry;
  const bullet = /^\d/.test(mark) ? mark : "•";
  const first = [
    span(`${indent}${bullet} `, { color: "cyan" }),
    ...(box === undefined ? [] : [span(box === " " ? "☐ " : "☑ ")]),
  ];
  return wrapLine(inline(text), { columns, first, rest: [span(" ".repeat(lineWidth(first)))] });
}

export interface Fence {
  mark: string;
  language: string;
}

export function openingFence(line: string): Fence | null {
  const found = /^\s{0,12}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/.exec(line);
  return found ? { mark: found[1] ?? "```", language: (found[2] ?? "").toLowerCase() } : null;
}

export const closesFence = (line: string, { mark }: Fence): boolean => {
  const text = line.trim();
  return text.length >= mark.length && text === (mark[0] ?? "`").repeat(text.length);
};

function takeFence(lines: string[], at: number, columns: number): Block {
  const fence = openingFence(lines[at] ?? "") as Fence;
  const found = lines.findIndex((line, index) => index > at && closesFence(line, fence));
  const end = found < 0 ? lines.length : found;
  return { shown: codeRows(lines.slice(at + 1, end), fence.language, columns), end: end + 1 };
}

/** Long lines of code continue on the next row. */
export function codeRows(lines: string[], language: string, columns: number): Line[] {
  const indent = [span("  ")];
  return lines.flatMap((line) => hardWrap(highlight(line, language), columns - 2).map((row) => [...indent, ...row]));
}

/** Divided at the last column, wherever that is: spaces of code stay. */
export function hardWrap(line: Line, columns: number): Line[] {
  if (lineWidth(line) <= columns) return [line];
  const rows: Line[] = [[]];
  let width = 0;
  for (const { text, style } of line) {
    for (const character of text) {
      const wide = widthOf(character);
      if (width + wide > columns) {
        rows.push([]);
        width = 0;
      }
      const row = rows.at(-1) as Line;
      const last = row.at(-1);
      if (last && last.style === style) last.text += character;
      else row.push(span(character, style));
      width += wide;
    }
  }
  return rows;
}

/** A line of a diff; what does not fit is below the text, not below the sign. */
export const diffRows = (line: string, columns: number): Line[] =>
  hardWrap(diffLine(line), columns - 2).map((row, index) => (index === 0 ? row : [span("  "), ...row]));

const delimiter = /^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$/;

const isTable = (lines: string[], at: number): boolean =>
  (lines[at] ?? "").includes("|") &&
  (lines[at + 1] ?? "").includes("-") &&
  delimiter.test(lines[at + 1] ?? "") &&
  (lines[at + 1] ?? "").includes("|");

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, "|"));

function takeTable(lines: string[], at: number, columns: number): Block {
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end++;
  const head = cellsOf(lines[at] ?? "");
  const body = lines.slice(at + 2, end).map(cellsOf);
  const cells = [head, ...body].map((row, index) =>
    head.map((_, column) => inline(row[column] ?? "", index === 0 ? { bold: true } : {})),
  );
  const widths = fitWidths(
    head.map((_, column) => Math.max(...cells.map((row) => lineWidth(row[column] ?? [])))),
    columns,
  );
  const rows = cells.map((row) => tableRow(row, widths));
  const rule: Line = [span(widths.map((width) => "─".repeat(width)).join("─┼─"), { dim: true })];
  return { shown: [...(rows[0] ?? []), rule, ...rows.slice(1).flat()], end };
}

/** The widest columns give way until the table fits; each keeps a few characters. */
function fitWidths(wanted: number[], columns: number): number[] {
  const widths = wanted.map((width) => Math.max(1, width));
  const total = () => widths.reduce((sum, width) => sum + width, 0) + 3 * (widths.length - 1);
  for (let widest = 0; total() > columns; ) {
    widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= 4) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function tableRow(cells: Line[], widths: number[]): Line[] {
  const wrapped = cells.map((cell, column) => wrapCell(cell, widths[column] ?? 1));
  const height = Math.max(1, ...wrapped.map((rows) => rows.length));
  return Array.from({ length: height }, (_, index) =>
    wrapped.flatMap((rows, column) => {
      const row = rows[index] ?? [];
      const padding = span(" ".repeat(Math.max(0, (widths[column] ?? 1) - lineWidth(row))));
      return [...row, padding, ...(column < cells.length - 1 ? [span(" │ ", { dim: true })] : [])];
    }),
  );
}

const wrapCell = (cell: Line, width: number): Line[] =>
  (width < 8 ? hardWrap(cell, width) : wrapLine(cell, { columns: width })).map((row) => cutLine(row, width));
