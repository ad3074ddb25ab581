// Styled lines as bytes for a terminal: the only way text gets there. Whatever could be a control sequence is replaced here.
import type { Color, Line, Style } from "./line.ts";

export type ColorDepth = "none" | "16" | "256" | "true";

export interface Painter {
  /** One row, without line end. */
  row(line: Line): string;
}

export interface PaintOptions {
  depth: ColorDepth;
  theme: ThemeName;
  /** The terminal opens links. */
  links: boolean;
}

export type ThemeName = "terminal" | "dark" | "light";
export const themeNames: ThemeName[] = ["terminal", "dark", "light"];

export function openPainter({ depth, theme, links }: PaintOptions): Painter {
  const codes = depth === "none" ? null : codesOf(theme, depth);
  const row = (line: Line): string => line.map(({ text, style }) => painted(harmless(text), style)).join("");
  const painted = (text: string, style: Style | undefined): string => {
    if (!style || text === "") return text;
    const address = links && style.link ? safeAddress(style.link) : null;
    const shown = codes ? styled(text, style, codes) : text;
    return address ? `\u001b]8;;${address}\u001b\\${shown}\u001b]8;;\u001b\\` : shown;
  };
  return { row };
}

/** As a last resort: texts were made harmless when they arrived. */
const harmless = (text: string): string =>
  isPlain.test(text) ? text : text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "�");

const isPlain = /^[\x20-\x7e]*$/;

/** Only addresses of the web, without anything that could end the sequence. */
const safeAddress = (address: string): string | null => (/^https?:\/\/[!-~]{1,2000}$/.test(address) ? address : null);

type Codes = Record<Color, string>;

function styled(text: string, style: Style, codes: Codes): string {
  const set = [
    ...(style.bold ? ["1"] : []),
    ...(style.dim ? ["2"] : []),
    ...(style.italic ? ["3"] : []),
    ...(style.underline ? ["4"] : []),
    ...(style.strike ? ["9"] : []),
    ...(style.color ? [codes[style.color]] : []),
  ];
  return set.length === 0 ? text : `\u001b[${set.join(";")}m${text}\u001b[0m`;
}

/** The palette of the terminal suits its background, whatever it is; the other two have colours of their own. */
function codesOf(theme: ThemeName, depth: Exclude<ColorDepth, "none">): Codes {
  if (theme === "terminal" || depth === "16") return terminalColors;
  const colors = theme === "dark" ? darkColors : lightColors;
  const code = ([red, green, blue, near]: readonly number[]) =>
    depth === "true" ? `38;2;${red};${green};${blue}` : `38;5;${near}`;
  return Object.fromEntries(Object.entries(colors).map(([name, color]) => [name, code(color)])) as Codes;
}

const terminalColors: Codes = { red: "31", green: "32", yellow: "33", blue: "34", magenta: "35", cyan: "36" };

/** Red, green, blue, and the nearest of 256. */
const darkColors: Record<Color, readonly number[]> = {
  red: [255, 123, 114, 210],
  green: [126, 211, 133, 114],
  yellow: [229, 192, 123, 180],
  blue: [121, 174, 255, 111],
  magenta: [210, 168, 255, 183],
  cyan: [118, 212, 218, 80],
};
const lightColors: Record<Color, readonly number[]> = {
  red: [176, 32, 36, 124],
  green: [17, 108, 48, 22],
  yellow: [134, 92, 0, 94],
  blue: [9, 84, 186, 25],
  magenta: [125, 60, 180, 91],
  cyan: [5, 101, 112, 23],
};

/** From the variables of the environment; NO_COLOR wins. */
export function colorDepth({ NO_COLOR, COLORTERM = "", TERM = "" }: Record<string, string | undefined>): ColorDepth {
  if (NO_COLOR) return "none";
  if (/truecolor|24bit/.test(COLORTERM)) return "true";
  return TERM.includes("256color") ? "256" : "16";
}
