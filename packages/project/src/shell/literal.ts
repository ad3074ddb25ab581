// Evaluates a piece of shell source as a word: its text without quoting, or unknown until run time.
import type { SyntaxNode } from "./grammar.ts";
import { unknown, type Word } from "./word.ts";

/** Adjacent pieces without a gap, which are one word to the shell. */
export function literal(pieces: SyntaxNode[]): Word {
  const parts = pieces.flatMap(flatten);
  const source = pieces.map((piece) => piece.text).join("");
  if (mayBraceExpand(parts)) return unknown(source);
  const texts = parts.map(textOf);
  return texts.every((text) => text !== null) ? texts.join("") : unknown(source);
}

/** The name of a program: a pattern there is replaced by matching files. */
export function literalProgram(pieces: SyntaxNode[]): Word {
  const isPattern = pieces.flatMap(flatten).some((part) => part.type === "word" && /(?<!\\)[*?[]/.test(part.text));
  return isPattern ? unknown(pieces.map((piece) => piece.text).join("")) : literal(pieces);
}

const flatten = (node: SyntaxNode): SyntaxNode[] =>
  node.type === "concatenation" || node.type === "command_name" ? node.children.flatMap(flatten) : [node];

/** Null when it is not known before it runs. */
function textOf(node: SyntaxNode): string | null {
  switch (node.type) {
    case "word":
      // In unquoted words a backtick stays only where the grammar lost track of a substitution.
      return /(?<!\\)`/.test(node.text) ? null : undoEscapes(node.text, /\\(.)/gs);
    case "raw_string":
      return node.text.slice(1, -1);
    case "string":
      return plainString(node);
    case "translated_string":
      return node.children.map((child) => (child.named ? textOf(child) : "")).join("");
    case "ansi_c_string":
      return decodeAnsiC(node.text.slice(2, -1));
    case "number":
      return node.children.length === 0 ? node.text : null;
    default:
      return node.named ? null : node.text;
  }
}

function plainString(node: SyntaxNode): string | null {
  if (node.children.some((child) => child.named && child.type !== "string_content")) return null;
  return undoEscapes(node.text.slice(1, -1), escapedInString);
}

/** The value of a string with its expansions as written. */
export const withExpansions = (source: string): string =>
  /^".*"$/s.test(source) ? undoEscapes(source.slice(1, -1), escapedInString) : source;

const escapedInString = /\\([$`"\\\n])/g;

/** An escaped line end is removed. */
const undoEscapes = (text: string, escapes: RegExp): string =>
  text.replace(escapes, (_, escaped: string) => (escaped === "\n" ? "" : escaped));

/** `{a,b}` and `{1..3}` become several words. */
function mayBraceExpand(parts: SyntaxNode[]): boolean {
  if (parts.some((part) => part.type === "brace_expression")) return true;
  const unquoted = parts.map((part) => (part.type === "word" ? part.text : "x")).join("");
  return /(?<!\\)\{[^{}]*(,|\.\.)[^{}]*\}/.test(unquoted);
}

const ansiC = /\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)/gs;
const named: Record<string, string> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const decodeAnsiC = (text: string): string =>
  text.replace(ansiC, (whole, code: string) => {
    const [kind = ""] = code;
    if (/[0-7]/.test(kind)) return character(Number.parseInt(code, 8) & 0xff);
    if (/[xuU]/.test(kind) && code.length > 1) return character(Number.parseInt(code.slice(1), 16));
    if (kind === "c" && code.length > 1) return character(code.charCodeAt(1) & 0x1f);
    return named[kind] ?? (/[\\'"?]/.test(kind) ? kind : whole);
  });

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : "�");
