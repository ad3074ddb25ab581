// The statements of a valid TOML text with their positions, so that one can be changed and every other byte kept.
import type { ParseToml } from "./overrides.ts";
import { isTable } from "./table.ts";

interface Span {
  /** Start of its line, and of the next line. */
  from: number;
  to: number;
  /** From the top of the file. */
  path: string[];
}

/** `[path]`, or `[[path]]` for one more entry of a list. */
export interface Header extends Span {
  kind: "table" | "list-entry";
}

export interface Pair extends Span {
  kind: "pair";
  /** Its header. */
  table: string[];
  valueFrom: number;
  valueTo: number;
}

export type Statement = Header | Pair;

export function statementsOf(text: string, parse: ParseToml): Statement[] {
  const statements: Statement[] = [];
  let table: string[] = [];
  for (let at = endOf(gap, text, 0); at < text.length; at = endOf(gap, text, at)) {
    const read = text[at] === "[" ? readHeader(text, at, parse) : readPair(text, at, { table, parse });
    if (read.kind !== "pair") table = read.path;
    statements.push(read);
    at = read.to;
  }
  return statements;
}

/** The parts of `a."b c".d`; null if this is not a key. */
export function pathOfKey(text: string, parse: ParseToml): string[] | null {
  if (endOf(dotted, text, 0) !== text.length || /(^|\.)[ \t]*(\.|$)/.test(text)) return null;
  const path: string[] = [];
  for (let value: unknown = parse(`${text} = 0`); isTable(value); ) {
    const [[key, inner] = ["", 0]] = Object.entries(value);
    path.push(key);
    value = inner;
  }
  return path;
}

function readHeader(text: string, at: number, parse: ParseToml): Header {
  const kind = text[at + 1] === "[" ? "list-entry" : "table";
  const from = at + (kind === "table" ? 1 : 2);
  const end = endOf(dotted, text, from);
  return { kind, path: knownPath(text.slice(from, end), parse), from: lineStart(text, at), to: lineEnd(text, end) };
}

function readPair(text: string, at: number, { table, parse }: { table: string[]; parse: ParseToml }): Pair {
  const end = endOf(dotted, text, at);
  const valueFrom = endOf(blanks, text, end + 1);
  const valueTo = endOfValue(text, valueFrom);
  return {
    kind: "pair",
    table,
    path: [...table, ...knownPath(text.slice(at, end), parse)],
    valueFrom,
    valueTo,
    from: lineStart(text, at),
    to: lineEnd(text, valueTo),
  };
}

function knownPath(key: string, parse: ParseToml): string[] {
  const path = pathOfKey(key, parse);
  if (path === null) throw new Error(`a TOML text that parsed has a key that does not: ${key}`);
  return path;
}

/** At the first line break or comment outside brackets and strings. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length && (depth > 0 || !/[\n#]/.test(text[at] ?? ""))) {
    if (/[[{]/.test(text[at] ?? "")) depth += 1;
    if (/[\]}]/.test(text[at] ?? "")) depth -= 1;
    at = Math.max(at + 1, endOf(piece, text, at));
  }
  return from + text.slice(from, at).trimEnd().length;
}

const gap = /(?:[ \t\r\n]|#[^\n]*)*/y;
const blanks = /[ \t]*/y;
const dotted = /(?:[ \t]*(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.?)+/y;
const piece = /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*/y;

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

export function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline === -1 ? text.length : newline + 1;
}
