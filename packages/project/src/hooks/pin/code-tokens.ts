// JavaScript and Python as tokens: names, strings with their values, and signs. What cannot be read for sure is refused.
import { Unpinnable } from "./shell-reader.ts";

export interface Token {
  kind: "name" | "string" | "number" | "pattern" | "sign";
  text: string;
  /** Of a string that is known as it is written. */
  value: string | null;
  at: number;
}

export type CodeLanguage = "javascript" | "python";

/** The code inside of a string, `${…}` or `{…}`, follows the string in parentheses. */
export function readTokens(text: string, language: CodeLanguage): Token[] {
  // A carriage return alone ends a line of Python.
  const source = language === "python" ? text.replaceAll(/\r(?!\n)/g, "\n") : text;
  const reader: Reader = { source, language, at: 0, tokens: [], open: [], closed: undefined, depth: 0 };
  if (source.startsWith("#!")) reader.at = lineEnd(source, 0);
  readUntil(reader, null);
  return reader.tokens;
}

/** With the position for the line in the reason. */
export const refuse = (at: number, reason: string): Unpinnable => Object.assign(new Unpinnable(reason), { at });

interface Reader {
  source: string;
  language: CodeLanguage;
  at: number;
  tokens: Token[];
  /** The tokens of the brackets that are open. */
  open: { sign: string; before: Token | undefined }[];
  /** What is in front of the brackets that were closed last. */
  closed: Token | undefined;
  /** Of strings with code in them. */
  depth: number;
}

const maxDepth = 32;
/** Python itself reads no more. */
const maxBrackets = 200;
const closing: Record<string, string> = { ")": "(", "]": "[", "}": "{" };

/** To the end, or to the sign that ends the code in a string. */
function readUntil(reader: Reader, end: RegExp | null): void {
  if (++reader.depth > maxDepth) throw refuse(reader.at, "code in strings is nested too deeply");
  const outer = reader.open.length;
  for (;;) {
    skipBlank(reader);
    if (reader.at >= reader.source.length) {
      if (end === null) break;
      throw refuse(reader.at, "a string is not closed");
    }
    if (end?.test(reader.source[reader.at] ?? "") && reader.open.length === outer) break;
    readToken(reader);
  }
  reader.depth--;
}

function skipBlank(reader: Reader): void {
  const { blank, comment } = languages[reader.language];
  for (;;) {
    if (take(reader, blank) !== null) continue;
    const start = take(reader, comment);
    if (start === null) return;
    if (start !== "/*") reader.at = lineEnd(reader.source, reader.at);
    else {
      const end = reader.source.indexOf("*/", reader.at);
      if (end === -1) throw refuse(reader.at, "a comment is not closed");
      reader.at = end + 2;
    }
  }
}

function readToken(reader: Reader): void {
  const { at, language } = reader;
  const { strings, names, signs } = languages[language];
  const opening = take(reader, strings);
  const name = opening === null ? take(reader, names) : null;
  const number = opening === null && name === null ? take(reader, /\d[\w.]*/y) : null;
  if (name !== null && name.normalize("NFKC") !== name) throw refuse(at, `the name ${name} is not read`);
  if (opening !== null) readString(reader, opening, at);
  else if (name !== null) push(reader, { kind: "name", text: name, at });
  else if (number !== null) push(reader, { kind: "number", text: number, at });
  else if (language === "javascript" && reader.source[at] === "/" && isPatternNext(reader)) readPattern(reader);
  else {
    const sign = take(reader, signs);
    if (sign === null) throw refuse(at, `the character ${JSON.stringify(reader.source[at])} is not read`);
    readSign(reader, sign, at);
  }
}

function readSign(reader: Reader, sign: string, at: number): void {
  if (sign === "\n" && reader.open.length > 0) return;
  const before = isMemberName(reader.tokens) ? undefined : reader.tokens.at(-1);
  push(reader, { kind: "sign", text: sign, at });
  if (/^[([{]$/.test(sign) && reader.open.push({ sign, before }) > maxBrackets)
    throw refuse(at, "its brackets are nested too deeply");
  const opener = closing[sign];
  if (opener === undefined) return;
  const opened = reader.open.pop();
  if (opened?.sign !== opener) throw refuse(at, "a bracket is not closed");
  reader.closed = opened.before;
}

/** Whether the last token is a name behind a dot, where `for` and `in` are names too. */
const isMemberName = (tokens: Token[]): boolean =>
  tokens.at(-1)?.kind === "name" && /^\??\.$/.test(tokens.at(-2)?.text ?? "");

/** A slash begins a pattern where no operand is in front of it. */
function isPatternNext({ tokens, closed, at }: Reader): boolean {
  const last = tokens.at(-1);
  if (last === undefined) return true;
  if (last.kind === "name") return beforePattern.test(last.text) && !isMemberName(tokens);
  if (last.kind !== "sign") return false;
  if (last.text === "}") throw refuse(at, "a slash after } is not read");
  if (last.text === ")" && closed?.text === "await") throw refuse(at, "a slash is not read");
  if (last.text === ")") return closed !== undefined && /^(?:if|while|for|with)$/.test(closed.text);
  return !/^(?:\]|\+\+|--)$/.test(last.text);
}

const beforePattern =
  /^(?:return|typeof|case|in|of|new|delete|void|throw|else|do|instanceof|yield|await|export|default)$/;

function readPattern(reader: Reader): void {
  const { at } = reader;
  const text = take(reader, /\/(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\/\w*/y);
  if (text === null) throw refuse(at, "a slash is not read");
  push(reader, { kind: "pattern", text, at });
}

function readString(reader: Reader, opening: string, start: number): void {
  const quote = opening.replace(/^\w+/, "");
  const prefix = opening.slice(0, -quote.length).toLowerCase();
  const hasCode = quote === "`" ? "${" : /[ft]/.test(prefix) ? "{" : null;
  const token: Token = { kind: "string", text: opening, value: "", at: start };
  reader.tokens.push(token);
  const isLong = quote.length === 3 || quote === "`";
  for (;;) {
    const { source, at } = reader;
    if (at >= source.length || (source[at] === "\n" && !isLong)) throw refuse(start, "a string is not closed");
    if (source.startsWith(quote, at)) break;
    if (hasCode !== null && source.startsWith(hasCode, at)) readInner(reader, token, hasCode);
    else readCharacter(reader, token, prefix.includes("r"));
  }
  reader.at += quote.length;
  token.text = reader.source.slice(start, reader.at);
  if (prefix.includes("b")) token.value = null;
}

function readInner(reader: Reader, token: Token, opening: string): void {
  if (opening === "{" && reader.source[reader.at + 1] === "{") {
    reader.at += 2;
    if (token.value !== null) token.value += "{";
    return;
  }
  token.value = null;
  push(reader, { kind: "sign", text: "(", at: reader.at });
  reader.at += opening.length;
  readUntil(reader, opening === "{" ? /[:}]/ : /\}/);
  if (reader.source[reader.at] === ":") readFormat(reader, token);
  push(reader, { kind: "sign", text: ")", at: reader.at });
  reader.closed = undefined;
  reader.at++;
}

/** Of a value in a string of Python, `:#06x` or `:>{width}`. */
function readFormat(reader: Reader, token: Token): void {
  for (reader.at++; reader.source[reader.at] !== "}"; ) {
    if (/^(?:["'\\\n]|\{\{|$)/.test(reader.source.slice(reader.at, reader.at + 2)))
      throw refuse(reader.at, "a string is not closed");
    if (reader.source[reader.at] === "{") readInner(reader, token, "{");
    else reader.at++;
  }
}

/** A string with an escape other than the usual ones is not known. */
function readCharacter(reader: Reader, token: Token, isRaw: boolean): void {
  const { source, at } = reader;
  const isEscape = source[at] === "\\";
  reader.at += isEscape ? 2 : 1;
  if (token.value === null) return;
  if (!isEscape) token.value += source[at];
  else if (isRaw) token.value += source.slice(at, at + 2);
  else {
    const character = escapes[source[at + 1] ?? ""];
    token.value = character === undefined ? null : token.value + character;
  }
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "\n": "" };

function push({ tokens }: Reader, token: Omit<Token, "value">): void {
  tokens.push({ ...token, value: null });
}

function take(reader: Reader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source)?.[0];
  if (found === undefined) return null;
  reader.at += found.length;
  return found;
}

const lineEnd = (source: string, at: number): number => {
  const length = source.slice(at).search(/[\n\r\u2028\u2029]/);
  return length === -1 ? source.length : at + length;
};

const languages = {
  javascript: {
    blank: /\s+/y,
    comment: /\/\/|\/\*/y,
    strings: /["'`]/y,
    names: /#?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy,
    // Not the old comments of HTML, nor escapes in names.
    signs: /=>|\.{3}|\+\+|--(?!>)|-(?!->)|\?\.(?!\d)|[=!]==?|[<>]=|&&|\|\||\?\?|<(?!!-{2})|[^\s\w"'`\\<#-]/y,
  },
  python: {
    blank: /(?:[ \t\f\r]|\\\r?\n)+/y,
    comment: /#/y,
    strings: /(?:[rRbBuUfFtT]{1,2})?(?:"""|'''|"|')/y,
    names: /[\p{ID_Start}_][\p{ID_Continue}]*/uy,
    signs: /\n|:=|->|\*\*|[=!<>+\-*/%&|^@]=|[^\s\w"'\\#]/y,
  },
};
