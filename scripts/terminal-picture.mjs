// The cells of a terminal in memory as a picture, drawn by Chromium.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const lineOf = (screen, row) => screen.buffer.active.getLine(screen.buffer.active.viewportY + row);

/** The visible rows. */
export const screenText = (screen) =>
  Array.from({ length: screen.rows }, (_, row) => lineOf(screen, row)?.translateToString(true) ?? "").join("\n");

/** Chromium leaves lower pictures empty. */
const minRows = 10;

/** A page with all cells and their styles. Rows below the last one with a text are left out. */
export function pictureOf(screen) {
  const [width, height] = [9, 19];
  const rows = Math.max(minRows, screenText(screen).trimEnd().split("\n").length);
  const cells = [];
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < screen.cols; column += 1) {
      const cell = lineOf(screen, row)?.getCell(column);
      if (!cell || cell.getChars() === "" || (cell.getChars() === " " && !colorOf(cell, "bg") && !cell.isUnderline()))
        continue;
      const position = `left:${column * width}px;top:${row * height}px;width:${cell.getWidth() * width}px`;
      cells.push(`<i style="${position};${styleOf(cell)}">${escaped(cell.getChars())}</i>`);
    }
  const { cursorX, cursorY } = screen.buffer.active;
  const cursor = `<b style="left:${cursorX * width}px;top:${cursorY * height}px"></b>`;
  const size = [screen.cols * width + 24, rows * height + 24];
  return { page: pageOf(`${cells.join("")}${cursor}`, size, height), size };
}

export function drawPicture({ page, size }, { file, scratch }) {
  writeFileSync(join(scratch, "page.html"), page);
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
  const own = [`--user-data-dir=${scratch}/chromium`, `--window-size=${size.join(",")}`, `--screenshot=${file}`];
  execFileSync(process.env.CHROMIUM ?? "chromium", [...flags, ...own, `file://${scratch}/page.html`], {
    stdio: "ignore",
  });
}

const pageOf = (content, [width, height], lineHeight) => `<!doctype html><meta charset="utf-8"><style>
body{margin:0;background:#1d1f21;width:${width}px;height:${height}px;overflow:hidden}
div{position:relative;margin:12px;font:15px/${lineHeight}px "DejaVu Sans Mono","Noto Sans Mono CJK JP",monospace;color:#c5c8c6}
i{position:absolute;font-style:normal;white-space:pre;height:${lineHeight}px}
b{position:absolute;width:2px;height:${lineHeight}px;background:#c5c8c6}
</style><div>${content}</div>`;

const palette = [
  ...["#1d1f21", "#cc6666", "#8abe7a", "#e0b45a", "#81a2be", "#b294bb", "#7fc0bb", "#c5c8c6"],
  ...["#767c80", "#e08080", "#a5d695", "#f2cc78", "#9dbdd8", "#cdb0d6", "#9ad9d4", "#ffffff"],
];

export function colorOf(cell, kind) {
  const value = kind === "fg" ? cell.getFgColor() : cell.getBgColor();
  if (kind === "fg" ? cell.isFgRGB() : cell.isBgRGB()) return `#${value.toString(16).padStart(6, "0")}`;
  if (kind === "fg" ? cell.isFgPalette() : cell.isBgPalette()) return palette[value] ?? "#c5c8c6";
  return null;
}

function styleOf(cell) {
  const fg = colorOf(cell, "fg");
  const bg = colorOf(cell, "bg");
  return [
    fg && `color:${fg}`,
    bg && `background:${bg}`,
    cell.isBold() && "font-weight:700",
    cell.isDim() && "opacity:.62",
    cell.isItalic() && "font-style:italic",
    cell.isUnderline() && "text-decoration:underline",
    cell.isInverse() && "filter:invert(1)",
  ]
    .filter(Boolean)
    .join(";");
}

export const escaped = (text) => text.replace(/[&<>]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[found]);
