// One command of the syntax tree with its redirections, and corrections of the grammar.
import type { SyntaxNode } from "./grammar.ts";
import { literal, literalProgram } from "./literal.ts";
import { isKnown, type Word } from "./word.ts";

/** Null for arithmetic, which runs nothing. */
export function readCommandNode(node: SyntaxNode, tail: Tail): { words: Word[]; input: string | null } | null {
  const name = node.children.find((child) => child.type === "command_name");
  const isArithmetic = name?.text.startsWith("((");
  if (!name || isArithmetic) return null;
  const isWord = (child: SyntaxNode) => child.start >= name.end && child.field === "argument";
  const [program = [], ...rest] = joinTouching([name, ...node.children.filter(isWord), ...tail.words]);
  const herestring = node.children.find((child) => child.type === "herestring_redirect")?.children.at(-1);
  const input = tail.input ?? (herestring ? knownText(literal([herestring])) : null);
  return { words: [literalProgram(program), ...rest.map(literal)], input };
}

const knownText = (word: Word): string | null => (isKnown(word) ? word : null);

/** Pieces without a gap between them are one word. */
function joinTouching(nodes: SyntaxNode[]): SyntaxNode[][] {
  const words: SyntaxNode[][] = [];
  for (const node of nodes) {
    const before = words.at(-1);
    if (before?.at(-1)?.end === node.start) before.push(node);
    else words.push([node]);
  }
  return words;
}

/** Parts of a command that follow it in the tree: `git > log push`, `bash <<EOF`. */
export interface Tail {
  words: SyntaxNode[];
  input: string | null;
}

export const noTail: Tail = { words: [], input: null };

/** Where redirections at the end of a statement belong. */
export function lastCommandOf(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type === "redirected_statement") return node.children.find((child) => child.field === "body");
  const chained = node.type === "list" || node.type === "pipeline" || node.type === "negated_command";
  return chained ? node.children.findLast((child) => child.named) : undefined;
}

export function tailOf(statement: SyntaxNode): Tail {
  const redirects = statement.children.filter((child) => child.field === "redirect");
  const nested = redirects.flatMap((redirect) => redirect.children.filter((child) => child.type === "file_redirect"));
  const heredoc = redirects.find((redirect) => redirect.type === "heredoc_redirect");
  return {
    words: [
      ...redirects.flatMap((redirect) => redirect.children.filter((child) => child.field === "argument")),
      ...[...redirects, ...nested].flatMap(wordsBehindTarget),
    ].sort((left, right) => left.start - right.start),
    input: heredoc ? heredocText(heredoc) : null,
  };
}

/** The grammar takes every word behind `>` for a target; only the first is one. */
const wordsBehindTarget = (redirect: SyntaxNode): SyntaxNode[] =>
  redirect.type === "file_redirect" ? redirect.children.filter((child) => child.field === "destination").slice(1) : [];

const heredocText = (redirect: SyntaxNode): string =>
  (redirect.children.find((child) => child.type === "heredoc_body")?.text ?? "").replace(/^\t+/gm, "");

/** In expansions and here-documents the grammar leaves backticks as text. */
export function hiddenSubstitutions(node: SyntaxNode): string[] {
  if (node.type === "heredoc_redirect" && isQuoted(node)) return [];
  const mayHide = node.type === "expansion" || node.type === "heredoc_body";
  if (!mayHide) return node.children.flatMap(hiddenSubstitutions);
  return Array.from(node.text.matchAll(/(?<!\\)`((?:[^`\\]|\\.)*)`/gs), ([, script = ""]) => script);
}

const isQuoted = (redirect: SyntaxNode): boolean =>
  redirect.children.some((child) => child.type === "heredoc_start" && /["'\\]/.test(child.text));
