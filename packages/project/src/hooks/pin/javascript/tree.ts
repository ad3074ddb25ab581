// JavaScript as a syntax tree, in the order of the text, with the parent of every node.
import module from "node:module";
import { type AnyNode, Parser } from "acorn";
import { unknownText } from "../code-calls.ts";
import { refuse } from "../code-tokens.ts";
import type { Unpinnable } from "../shell-reader.ts";

export type { AnyNode } from "acorn";

export interface Tree {
  text: string;
  /** Parents before their children. */
  nodes: AnyNode[];
  parents: Map<AnyNode, AnyNode>;
}

/** With the types of TypeScript, where this Node can leave them out. */
export function parseAny(text: string): Tree[] {
  try {
    return parseJavascript(text);
  } catch (error) {
    const plain = withoutTypes(text);
    if (plain === null) throw error;
    return parseJavascript(plain);
  }
}

/** Node warns that this is experimental, which says nothing about the hook. Positions stay as they are. */
function withoutTypes(text: string): string | null {
  const { stripTypeScriptTypes } = module as { stripTypeScriptTypes?: (code: string) => string };
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {};
    return stripTypeScriptTypes?.(text) ?? null;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Several where Node could read the text as a module or as a script, and they differ. */
function parseJavascript(text: string): Tree[] {
  const read = parseAs(text, "module");
  // The old comments of HTML are comments in a script and operators in a module.
  const isBoth = /<!-{2}|-{2}>/.test(text);
  if ("nodes" in read && !isBoth) return [read];
  const other = parseAs(text, "script");
  const trees = [read, other].filter((each): each is Tree => "nodes" in each);
  if (trees.length === 0) throw reasonOf([read, other]);
  return trees;
}

function parseAs(text: string, sourceType: "module" | "script"): Tree | { error: unknown } {
  try {
    const root = Parser.extend(limitDepth).parse(text, {
      ecmaVersion: "latest",
      sourceType,
      allowHashBang: true,
      allowReturnOutsideFunction: sourceType === "script",
    });
    return walk(text, root);
  } catch (error) {
    return { error };
  }
}

/** What the parser calls again for each level, with the limit. At the end of its stack Node can end as a whole, without an error. */
const maxDepth: Record<string, number> = {
  parseStatement: 200,
  parseMaybeAssign: 300,
  parseMaybeUnary: 300,
  parseBindingAtom: 200,
  parseExprOp: 2000,
  parseNew: 100,
};

type Step = (this: unknown, ...given: unknown[]) => unknown;

function limitDepth(base: typeof Parser): typeof Parser {
  const limited = class extends base {};
  for (const [name, max] of Object.entries(maxDepth)) {
    const step = (base.prototype as unknown as Record<string, Step>)[name] as Step;
    let depth = 0;
    const value = function (this: unknown, ...given: unknown[]): unknown {
      if (++depth > max) throw new RangeError(name);
      try {
        return step.apply(this, given);
      } finally {
        depth--;
      }
    };
    Object.defineProperty(limited.prototype, name, { value });
  }
  return limited;
}

/** Of the two errors the one further behind: the other is about the kind of file. */
function reasonOf(read: (Tree | { error: unknown })[]): Unpinnable {
  const errors = read.flatMap((each) => ("error" in each ? [each.error] : []));
  if (errors.some((error) => error instanceof RangeError)) return refuse(0, "its code is nested too deeply");
  const [last] = errors.map((error) => error as SyntaxError & { pos?: number }).sort((a, b) => posOf(b) - posOf(a));
  const what = last?.message.replace(/ ?\(\d+:\d+\)$/, "") ?? "";
  return refuse(last ? posOf(last) : 0, `its code cannot be read (${what})`);
}

const posOf = ({ pos }: { pos?: number }): number => pos ?? 0;

function walk(text: string, root: AnyNode): Tree {
  const tree: Tree = { text, nodes: [], parents: new Map() };
  const open: AnyNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    tree.nodes.push(node);
    const children = childrenOf(node);
    for (const child of children) tree.parents.set(child, node);
    open.push(...children.reverse());
  }
  return tree;
}

const childrenOf = (node: AnyNode): AnyNode[] =>
  Object.values(node as unknown as Record<string, unknown>)
    .flat()
    .filter((value): value is AnyNode => typeof value === "object" && value !== null && "type" in value);

/** From the parent to the root. */
export function* ancestorsOf({ parents }: Tree, node: AnyNode): Generator<AnyNode> {
  for (let parent = parents.get(node); parent; parent = parents.get(parent)) yield parent;
}

export const sourceOf = ({ text }: Tree, { start, end }: AnyNode): string => text.slice(start, end);

/** What the code there does is not known. */
export const unknownCode = (tree: Tree, node: AnyNode): Unpinnable =>
  refuse(node.start, unknownText(sourceOf(tree, node).split("\n", 1)[0]?.slice(0, 60) ?? ""));

export const isFunctionNode = ({ type }: AnyNode): boolean =>
  type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
export const isClassNode = ({ type }: AnyNode): boolean => type === "ClassDeclaration" || type === "ClassExpression";
