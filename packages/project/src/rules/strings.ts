// String literals of rules files: one or three quotation marks, escapes, raw and format strings.
import { RulesError } from "./rules-error.ts";
import { advance, locationIn, type Source } from "./source.ts";

export interface StringLiteral {
  kind: "string";
  /** Unescaped; braces of a format string are not replaced yet. */
  text: string;
  isFormat: boolean;
}

/** `prefix` is r, f, both or empty and is at the current position. */
export function readString(source: Source, prefix: string): StringLiteral {
  const location = locationIn(source);
  advance(source, prefix.length);
  const one = source.text.slice(source.at, source.at + 1);
  const marks = source.text.startsWith(one.repeat(3), source.at) ? one.repeat(3) : one;
  advance(source, marks.length);
  const isRaw = /r/i.test(prefix);
  let text = "";
  for (;;) {
    if (source.at >= source.text.length) throw new RulesError(location, "the string is not closed");
    if (source.text.startsWith(marks, source.at)) break;
    const character = source.text.slice(source.at, source.at + 1);
    if (character === "\n" && marks.length === 1) {
      throw new RulesError(location, `the string is not closed on its line; close it, or use ${one.repeat(3)}`);
    }
    text += character === "\\" ? readEscape(source, isRaw) : advance(source, 1);
  }
  advance(source, marks.length);
  return { kind: "string", text, isFormat: /f/i.test(prefix) };
}

const escapes: Record<string, string> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function readEscape(source: Source, isRaw: boolean): string {
  if (isRaw) return advance(source, 2);
  const location = locationIn(source);
  const rest = source.text.slice(source.at + 1, source.at + 11);
  const code = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))/.exec(rest);
  if (code) {
    advance(source, code[0].length + 1);
    const [, two, four, eight, octal = ""] = code;
    const point = Number.parseInt(two ?? four ?? eight ?? octal, octal ? 8 : 16);
    if (point > 0x10ffff) throw new RulesError(location, `\\${code[0]} is not a character`);
    return String.fromCodePoint(point);
  }
  const plain = escapes[rest.slice(0, 1)];
  if (plain === undefined)
    throw new RulesError(location, `unknown escape \\${rest.slice(0, 1)}; write \\\\ for a backslash`);
  advance(source, 2);
  return plain;
}
