// Removes cells of tables beyond the columns of the table: rendered Markdown leaves them out.
import type { Removals } from "./removals.ts";

const delimiterCell = /^[ \t]*:?-+:?[ \t]*$/;
/** Cell by cell: one expression for the row would take quadratic time for rows of spaces. */
function isDelimiterRow(row: string): boolean {
  const cells = row.split("|");
  const begin = isBlank(cells[0]) ? 1 : 0;
  const inner = cells.slice(begin, cells.length > begin && isBlank(cells.at(-1)) ? -1 : undefined);
  return inner.length > 0 && inner.every((cell) => delimiterCell.test(cell));
}
const isBlank = (cell = ""): boolean => /^[ \t]*$/.test(cell);
/** Of quotes and indented text. */
const lead = /^[ \t>]*/;
/** The first row of a table may be that of an item, too. */
const firstLead = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*/;

export function stripSurplusCells(text: string, removals: Removals): string {
  if (!text.includes("|") || !text.includes("-")) return text;
  /** Of the table that the line above belongs to; 0: of none. */
  let columns = 0;
  const lines = text.split("\n");
  return lines
    .map((line, index) => {
      const row = line.replace(lead, "");
      const above = (lines[index - 1] ?? "").replace(firstLead, "");
      if (isDelimiterRow(row) && above.includes("|") && columnsIn(row) === columnsIn(above)) columns = columnsIn(row);
      else if (row === "" || !row.includes("|")) columns = 0;
      const end = columns === 0 ? undefined : endOfColumn(row, columns);
      if (end === undefined || row.slice(end).trim() === "") return line;
      removals.add("table-cell", row.slice(end));
      return line.slice(0, line.length - row.length + end);
    })
    .join("\n");
}

/** Where cells end; an escaped bar is part of one. */
const bars = (row: string): number[] =>
  [...row.matchAll(/\\[\s\S]|\|/g)].flatMap(({ 0: mark, index }) => (mark === "|" ? [index] : []));

/** A bar at the beginning opens the first cell. */
const closing = (row: string): number[] => (row.startsWith("|") ? bars(row).slice(1) : bars(row));

const columnsIn = (row: string): number => closing(row.trimEnd()).length + (row.trimEnd().endsWith("|") ? 0 : 1);

/** After the bar that closes the last column; undefined if the row has no more than that. */
function endOfColumn(row: string, columns: number): number | undefined {
  const at = closing(row)[columns - 1];
  return at === undefined ? undefined : at + 1;
}
