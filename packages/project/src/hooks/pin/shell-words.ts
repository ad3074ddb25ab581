// One word of shell code: its text as far as it is known, and the commands in its expansions.
import { readOwnDirectory } from "./own-directory.ts";
import { notKnown, type Reader, type ShellWord, take, Unpinnable } from "./shell-reader.ts";

/** Pieces without a gap between them. */
export function readWord(reader: Reader): ShellWord {
  const start = reader.at;
  const outer = reader.unknown;
  const unknown: string[] = [];
  reader.unknown = unknown;
  let value: string | null = "";
  let splits = false;
  for (let at = start; ; at = reader.at) {
    const piece = readPiece(reader, start);
    if (piece === undefined) break;
    if (piece === null && reader.source[at] !== '"') splits = true;
    value = join(value, piece);
    checkLength(value, reader.at - start);
  }
  reader.unknown = outer;
  const text = reader.source.slice(start, reader.at);
  if (value !== null && mayVanish(text, reader))
    return { start, end: reader.at, value: null, unknown: [...unknown, "$"], splits: true };
  if (!expandsLater(text)) return { start, end: reader.at, value, unknown, splits };
  return { start, end: reader.at, value: null, unknown: [...unknown, "*"], splits: true };
}

/** A word of nothing but variables that are set in the text. */
const mayVanish = (text: string, { variables }: Reader): boolean =>
  /^(?:\$\w+|\$\{\w+\})+$/.test(text) && !text.split(/\W+/).some((name) => variables.has(name));

/** `{a,b}` is several words; zsh replaces `=name`. */
const expandsLater = (text: string): boolean =>
  (/[{}]/.test(unquoted(text)) && !/^[{}]$/.test(text)) || /^=(?![=~]?$)/.test(text);

const unquoted = (text: string): string => text.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\{[^{}]*\}/gs, "");

const plain = /[\w@%+=:,./\]^-]+|#/y;

/** Undefined at the end of the word; null for a piece that is known only when the command runs. */
function readPiece(reader: Reader, start: number): string | null | undefined {
  const { source, at } = reader;
  const text = take(reader, plain);
  if (text !== null) return text;
  switch (source[at]) {
    case "'":
      return readQuoted(reader);
    case '"':
      return readDoubleQuoted(reader);
    case "$":
      if (source[at + 1] === '"') throw new Unpinnable('a translated string $"…" is not read');
      return readExpansion(reader);
    case "\\":
      reader.at += 2;
      return source[at + 1] === "\n" ? "" : (source[at + 1] ?? "");
    case "~":
      return readHome(reader, start);
    case "{":
    case "}":
    case "!":
      reader.at += 1;
      return source[at];
    case "[":
      return readBracket(reader, start);
    case "*":
    case "?":
      reader.at += 1;
      return notKnown(reader, "*");
    case "`":
      throw new Unpinnable("a command in backticks is not read");
  }
  return undefined;
}

function readHome(reader: Reader, start: number): string | null {
  if (/^=~\s/.test(reader.source.slice(start, start + 3)) && reader.at === start + 1) {
    reader.at += 1;
    return "~";
  }
  const isHome = reader.at === start && /^~(?=[/\s;&|)]|$)/.test(reader.source.slice(reader.at, reader.at + 2));
  reader.at += 1;
  return (isHome ? reader.variables.get("HOME") : undefined) ?? notKnown(reader, "~");
}

/** The program `[` or `[[`; elsewhere the start of a pattern. */
function readBracket(reader: Reader, start: number): string | null {
  const program = /^\[{1,2}(?=\s)/.exec(reader.source.slice(reader.at))?.[0];
  reader.at += program?.length ?? 1;
  if (program !== undefined && reader.at - program.length === start) return program;
  return notKnown(reader, "*");
}

function readQuoted(reader: Reader): string {
  const end = reader.source.indexOf("'", reader.at + 1);
  if (end === -1) throw new Unpinnable("a quote is not closed");
  const text = reader.source.slice(reader.at + 1, end);
  reader.at = end + 1;
  return text;
}

const stringText = /(?:[^"\\$`]|\\.)+/sy;

function readDoubleQuoted(reader: Reader): string | null {
  let value: string | null = "";
  const { isQuoted, at: start } = reader;
  reader.at += 1;
  reader.isQuoted = true;
  for (;;) {
    const text = take(reader, stringText);
    const next = reader.source[reader.at];
    if (text !== null) value = value === null ? null : value + text.replace(/\\(["\\$`])|\\\n/g, "$1");
    else if (next === "$") {
      value = join(value, readExpansion(reader));
      checkLength(value, reader.at - start);
    } else if (next === "`") throw new Unpinnable("a command in backticks is not read");
    else if (next === undefined) throw new Unpinnable("a quote is not closed");
    else break;
  }
  reader.at += 1;
  reader.isQuoted = isQuoted;
  return value;
}

const maxExpanded = 10_000;

/** Variables that are made of variables can be longer than anything that can be held. */
function checkLength(value: string | null, written: number): void {
  if (value !== null && value.length > written + maxExpanded)
    throw new Unpinnable(`it makes a text that is longer than ${maxExpanded} characters`);
}

const join = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? null : one + other;

const variable = /\$(?:(\w+)|\{(\w+)\}|[@*#?$!-])/y;

export function readExpansion(reader: Reader): string | null {
  const { source, at, variables } = reader;
  if (source.startsWith("$((", at)) throw new Unpinnable("arithmetic is not read");
  const own = readOwnDirectory(reader);
  if (own !== null) return own;
  if (source.startsWith("$(", at)) {
    reader.at += 2;
    reader.readSubshell(reader);
    return notKnown(reader, "$(");
  }
  if (readParameter(reader)) return null;
  variable.lastIndex = at;
  const match = variable.exec(source);
  if (match === null && /^\$(?:[\s"]|$)/.test(source.slice(at, at + 2))) {
    reader.at += 1;
    return "$";
  }
  if (match === null) throw new Unpinnable(`the expansion ${source.slice(at, at + 12)} is not read`);
  reader.at += match[0].length;
  const name = match[1] ?? match[2] ?? match[0].slice(1);
  return variables.get(name) ?? constantValue(reader, name) ?? notKnown(reader, name);
}

/** Without quotes, an empty variable disappears, and others may be several words. */
function constantValue({ constants, isQuoted }: Reader, name: string): string | undefined {
  const value = constants.get(name);
  return isQuoted || (value !== undefined && /^[\w@%+:,./-]+$/.test(value)) ? value : undefined;
}

/** Not `${!x}`, `${x@P}` and subscripts that are no numbers: they evaluate a text. Not `${x=y}`: it sets a variable. */
const simple = /\$\{(?:#?(\w+|[@*#?])(?:\[(?:[@*]|\d+)\])?(?:: ?-?\d+(?::-?\d+)?)?)\}/y;
const operator = /\$\{(\w+|[@*])(?:\[(?:[@*]|\d+)\])?(?::?[-+?]|##?|%%?|\/[/#%]?|\^\^?|,,?)/y;

/** False if it is none of these, or a plain variable. */
function readParameter(reader: Reader): boolean {
  if (/^\$\{\w+\}/.test(reader.source.slice(reader.at, reader.at + 100))) return false;
  const name = nameOf(reader, simple);
  if (name !== null) notKnown(reader, name);
  const changed = name === null ? nameOf(reader, operator) : null;
  if (changed === null) return name !== null;
  notKnown(reader, changed);
  for (;;) {
    if (take(reader, /\}/y)) return true;
    if (take(reader, /(?:[^}{\\$`"'\n]|\\.)+/sy) !== null) continue;
    const next = reader.source[reader.at];
    if (next === '"') readDoubleQuoted(reader);
    else if (next === "$") readExpansion(reader);
    else throw new Unpinnable(`the expansion of ${changed} is not read`);
  }
}

function nameOf(reader: Reader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.source);
  reader.at += match?.[0].length ?? 0;
  return match && (match[1] ?? "");
}

/** As one word of a shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
