// Terminal output as pieces of text with colours. Everything that is not colour is removed; nothing becomes markup.
export interface Piece {
  text: string;
  /** Class names, from a fixed set. */
  style: string;
}

const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** Escape sequences: CSI, OSC up to its end, two-byte ones, and truncated ones at the end of the text. */
const escapes =
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|\[[0-?]*[ -/]*$|\][^\x07\x1b]*$|[ -/]*[0-~]|$)/g;
const controls = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;

export function readAnsi(output: string): Piece[] {
  const text = output.split("\n").map(lastFrame).join("\n");
  const pieces: Piece[] = [];
  let style: Style = plain;
  let at = 0;
  const add = (end: number) => {
    const piece = text.slice(at, end).replace(controls, "");
    if (piece !== "") pieces.push({ text: piece, style: namesOf(style) });
  };
  for (const found of text.matchAll(escapes)) {
    add(found.index);
    at = found.index + found[0].length;
    if (found[2] === "m") style = restyle(style, found[1] ?? "");
  }
  add(text.length);
  return pieces;
}

/** A line that a program drew over again, such as a progress bar, is shown as it was last. */
function lastFrame(line: string): string {
  const trimmed = line.replace(/\r+$/, "");
  const at = trimmed.lastIndexOf("\r");
  return at < 0 ? trimmed : trimmed.slice(at + 1);
}

interface Style {
  colour: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const plain: Style = { colour: "", bold: false, dim: false, italic: false, underline: false };

function restyle(style: Style, parameters: string): Style {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let next = style;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : codes[index + 1] === 2 ? 4 : 0;
    else next = applyCode(next, code);
  }
  return next;
}

function applyCode(style: Style, code: number): Style {
  if (code === 0) return plain;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: "" };
  if (code >= 30 && code <= 37) return { ...style, colour: colours[code - 30] ?? "" };
  if (code >= 90 && code <= 97) return { ...style, colour: colours[code - 90] ?? "" };
  return style;
}

const namesOf = ({ colour, bold, dim, italic, underline }: Style): string =>
  [
    colour && `ansi-${colour}`,
    bold && "ansi-bold",
    dim && "ansi-dim",
    italic && "ansi-italic",
    underline && "ansi-underline",
  ]
    .filter(Boolean)
    .join(" ");
