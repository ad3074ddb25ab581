// The text of a rules file as tokens. Ends of lines count only outside brackets.
import { type Location, RulesError } from "./rules-error.ts";
import { advance, locationIn, type Source } from "./source.ts";
import { readString } from "./strings.ts";

export type Token = Location &
  (
    | { kind: "name"; text: string }
    | { kind: "string"; text: string; isFormat: boolean }
    | { kind: "number"; value: number }
    | { kind: "sign"; text: string }
    | { kind: "line-end" }
    | { kind: "end" }
  );

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const source: Source = { text, at: 0, line: 1, lineStart: 0, brackets: 0 };
  for (;;) {
    skipBlank(source);
    const token = nextToken(source);
    const repeats = token.kind === "line-end" && (tokens.at(-1) ?? token).kind === "line-end";
    if (!repeats) tokens.push(token);
    if (token.kind === "end") return tokens;
  }
}

/** Inside brackets an end of line is blank too. */
function skipBlank(source: Source): void {
  const blank = source.brackets > 0 ? /(?:[ \t\r\n]|#[^\n]*|\\\r?\n)+/y : /(?:[ \t\r]|#[^\n]*|\\\r?\n)+/y;
  advance(source, match(source, blank)?.length ?? 0);
}

function nextToken(source: Source): Token {
  const location = locationIn(source);
  if (source.at >= source.text.length) return { ...location, kind: "end" };
  const prefix = match(source, /(?:[rR]?[fF]?|[fF][rR])(?=["'])/y);
  if (prefix !== null) return { ...location, ...readString(source, prefix) };
  const name = match(source, /[A-Za-z_]\w*/y);
  if (name !== null) return { ...location, kind: "name", text: advance(source, name.length) };
  const number = match(source, /\d+/y);
  if (number !== null) return { ...location, kind: "number", value: Number(advance(source, number.length)) };
  const sign = advance(source, 1);
  if (sign === "\n") return { ...location, kind: "line-end" };
  if (!/[()[\]{},=+:;.*<>!%/|&^~@-]/.test(sign)) {
    throw new RulesError(location, `${JSON.stringify(sign)} means nothing here; put text in quotation marks`);
  }
  if (/[([{]/.test(sign)) source.brackets++;
  if (/[)\]}]/.test(sign)) source.brackets = Math.max(0, source.brackets - 1);
  return { ...location, kind: "sign", text: sign };
}

function match(source: Source, pattern: RegExp): string | null {
  pattern.lastIndex = source.at;
  return pattern.exec(source.text)?.[0] ?? null;
}
