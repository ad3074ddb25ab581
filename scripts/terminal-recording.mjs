// A recording of commands on a terminal as an SVG that plays by itself: lines appear one after the other, and scroll.
import { colorOf, escaped } from "./terminal-picture.mjs";

const [width, height, margin, shownRows] = [8.4, 18, 12, 26];
const secondsPerLine = 0.22;
const secondsAtTheEnd = 6;

/** All rows of the terminal, those that have scrolled off included. */
const rowsOf = ({ buffer: { active } }) =>
  Array.from({ length: active.baseY + active.cursorY + 1 }, (_, row) => active.getLine(row));

export function drawRecording(screen) {
  const rows = rowsOf(screen);
  while (rows.at(-1)?.translateToString(true) === "") rows.pop();
  const total = rows.length * secondsPerLine + secondsAtTheEnd;
  const percent = (row) => ((row * secondsPerLine * 100) / total).toFixed(2);
  const lines = rows.map((line, row) => {
    const position = `y="${(row + 1) * height - 4}" style="animation-name:l${row}"`;
    return `<text class="line" xml:space="preserve" ${position}>${runsOf(line)}</text>`;
  });
  const scrolled = rows
    .map((_, row) => row)
    .filter((row) => row >= shownRows)
    .map((row) => `${percent(row)}%{transform:translateY(${(shownRows - 1 - row) * height}px)}`);
  const size = [screen.cols * width + 2 * margin, shownRows * height + 2 * margin];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(" ")}" width="${size[0]}" height="${size[1]}" role="img">
<title>A terminal: agentcli works on a prompt, and goes on with another</title>
<style>
text{font:14px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#c5c8c6}
.rows{animation:scroll ${total.toFixed(2)}s step-end infinite}
@keyframes scroll{0%{transform:none}${scrolled.join("")}}
${appearing(rows, { percent, total })}
@media (prefers-reduced-motion:reduce){.rows,.line{animation:none}}
</style>
<rect width="100%" height="100%" rx="6" fill="#1d1f21"/>
<svg x="${margin}" y="${margin}" width="${screen.cols * width}" height="${shownRows * height}"><g class="rows">
${lines.join("\n")}
</g></svg>
</svg>
`;
}

const appearing = (rows, { percent, total }) =>
  [
    `.line{animation:${total.toFixed(2)}s step-end infinite}`,
    ...rows.map((_, row) => `@keyframes l${row}{0%{opacity:${row === 0 ? 1 : 0}}${percent(row)}%{opacity:1}}`),
  ].join("\n");

/** Neighbouring cells of one style are one piece of text. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell.getWidth() === 0) continue;
    const style = [
      colorOf(cell, "fg") && `fill:${colorOf(cell, "fg")}`,
      cell.isBold() && "font-weight:700",
      cell.isDim() && "opacity:.62",
    ]
      .filter(Boolean)
      .join(";");
    const last = runs.at(-1);
    if (last?.style === style) last.text += cell.getChars() || " ";
    else runs.push({ style, text: cell.getChars() || " ", column });
  }
  return runs
    .filter(({ text }) => text.trim() !== "")
    .map(({ style, text, column }) => {
      const position = `x="${(column * width).toFixed(1)}"`;
      return `<tspan ${position}${style ? ` style="${style}"` : ""}>${escaped(text.trimEnd())}</tspan>`;
    })
    .join("");
}
