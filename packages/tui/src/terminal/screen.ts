// What stays on the terminal, and a live region below it. Each frame is one write; only rows that changed are written, and what
// has been written above the live region is never touched again: it belongs to the scrollback.
import { widthOf } from "@agentcli/surfaces/columns";

export interface Output {
  write(text: string): void;
  readonly columns: number;
  readonly rows: number;
}

export interface Frame {
  /** Rows that stay; longer ones are wrapped by the terminal. */
  committed: string[];
  /** Rows of the live region, each shorter than the terminal is wide. */
  live: string[];
  cursor: { row: number; column: number };
}

export interface Screen {
  draw(frame: Frame): void;
  /** The live region has been overwritten by another program: it is drawn anew below. */
  forget(): void;
  /** Leaves the cursor below the live region, which stays, or above it, erased. */
  end(what: "keep" | "erase"): void;
}

interface Drawn {
  rows: string[];
  /** Where the cursor is. */
  row: number;
  column: number;
  /** Of the terminal at that time. */
  columns: number;
}

const nothing = (columns: number): Drawn => ({ rows: [], row: 0, column: 0, columns });

export function openScreen(output: Output): Screen {
  let drawn = nothing(output.columns);
  return {
    draw(frame) {
      const { columns } = output;
      const { live, cursor } = clip(frame, output.rows);
      const isResized = columns !== drawn.columns && drawn.rows.length > 0;
      const erased = isResized ? `${up(rowsAbove(drawn, columns))}\r\u001b[J` : "";
      if (isResized) drawn = nothing(columns);
      const changed =
        frame.committed.length > 0 || drawn.rows.length === 0
          ? replace(drawn, frame.committed, live)
          : update(drawn, live);
      const moved = moveTo(changed.row, cursor);
      const isSame = changed.text === "" && erased === "" && drawn.row === cursor.row && drawn.column === cursor.column;
      drawn = { rows: live, ...cursor, columns };
      if (!isSame) output.write(`${begin}${erased}${changed.text}${moved}${finish}`);
    },
    forget() {
      drawn = nothing(output.columns);
    },
    end(what) {
      const below = `${down(drawn.rows.length - 1 - drawn.row)}\r\n`;
      const above = `${up(rowsAbove(drawn, output.columns))}\r\u001b[J`;
      if (drawn.rows.length > 0) output.write(what === "keep" ? below : above);
      drawn = nothing(output.columns);
    },
  };
}

/** Synchronized output: the terminal shows the whole frame at once. Terminals that do not know it ignore it. */
const begin = "\u001b[?2026h\u001b[?25l";
const finish = "\u001b[?25h\u001b[?2026l";

const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "");
const down = (rows: number): string => (rows > 0 ? `\u001b[${rows}B` : "");

function moveTo(from: number, { row, column }: Frame["cursor"]): string {
  return `${up(from - row)}${down(row - from)}\r${column > 0 ? `\u001b[${column}C` : ""}`;
}

/** The live region is shorter than the terminal; its last rows are shown. */
function clip({ live, cursor }: Frame, rows: number): Pick<Frame, "live" | "cursor"> {
  const hidden = Math.max(0, live.length - Math.max(1, rows - 1));
  return { live: live.slice(hidden), cursor: { ...cursor, row: Math.max(0, cursor.row - hidden) } };
}

/** Rows between the beginning of the live region and the cursor, after the terminal has wrapped them anew. */
function rowsAbove({ rows, row, column }: Drawn, columns: number): number {
  const above = rows
    .slice(0, row)
    .reduce((sum, text) => sum + Math.max(1, Math.ceil(widthOf(bare(text)) / columns)), 0);
  return above + Math.floor(column / Math.max(1, columns));
}

const bare = (row: string): string => row.replace(/\u001b\[[\d;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g, "");

interface Change {
  text: string;
  /** Where the cursor is then. */
  row: number;
}

/** New rows above: everything below moves. Rows are written over, and what is left is erased. */
function replace({ row, columns }: Drawn, committed: string[], live: string[]): Change {
  // In a row that ends in the last column, some terminals would erase the last character.
  const endsFull = (text: string) =>
    (2 * text.length >= columns || text.includes("\t")) && text !== "" && endColumn(bare(text), columns) === 0;
  const rows = [...committed, ...live].map((text) => (endsFull(text) ? text : `${text}\u001b[K`));
  return { text: `${up(row)}\r${rows.join("\r\n")}\u001b[J`, row: live.length - 1 };
}

const tabColumns = 8;

/** 0 after a row that ends in the last column. A tab goes to the next stop, and not beyond the last column. */
function endColumn(text: string, columns: number): number {
  const [first = "", ...rest] = text.split("\t");
  return rest.reduce((column, piece) => {
    const stop = Math.min(column + tabColumns - (column % tabColumns), columns - 1);
    return (stop + widthOf(piece)) % columns;
  }, widthOf(first) % columns);
}

function update(drawn: Drawn, live: string[]): Change {
  let { row } = drawn;
  let text = "";
  for (const [index, next] of live.entries()) {
    const before = drawn.rows[index];
    if (before === next) continue;
    if (before === undefined) {
      text += `${down(index - 1 - row)}\r\n${next}`;
    } else {
      text += `${up(row - index)}${down(index - row)}${rewrite(before, next)}`;
    }
    row = index;
  }
  if (drawn.rows.length > live.length) {
    text += `${up(row - live.length)}${down(live.length - row)}\r\u001b[J`;
    row = live.length;
  }
  return { text, row };
}

/** Text that was only added to a row is all that is written. */
function rewrite(before: string, next: string): string {
  const isContinued = next.startsWith(before) && !before.includes("\u001b") && before !== "";
  return isContinued ? `\r\u001b[${widthOf(before)}C${next.slice(before.length)}` : `\r${next}\u001b[K`;
}
