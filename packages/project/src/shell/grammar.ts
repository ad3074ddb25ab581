// The bash grammar of tree-sitter: loaded on first use, every parse bounded, the tree returned as plain data.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Parser, TreeCursor } from "@vscode/tree-sitter-wasm";

export interface SyntaxNode {
  type: string;
  /** The role in its parent, such as `argument`; null if it has none. */
  field: string | null;
  named: boolean;
  text: string;
  start: number;
  end: number;
  children: SyntaxNode[];
}

export type Parsed = { kind: "tree"; root: SyntaxNode; sound: boolean } | { kind: "unreadable"; reason: string };
/** `until`: deadline on the clock of `performance`. Some texts of allowed length would take minutes. */
export type Parse = (script: string, until: number) => Parsed;

/** `directory` holds tree-sitter.cjs, tree-sitter.wasm and tree-sitter-bash.wasm. */
export async function openGrammar(directory: string): Promise<Parse> {
  opened ??= load(directory);
  return opened;
}

/** The runtime of the grammar exists once per process. */
let opened: Promise<Parse> | undefined;

async function load(directory: string): Promise<Parse> {
  try {
    const [runtime, grammar] = await Promise.all([
      readFile(join(directory, "tree-sitter.wasm")),
      readFile(join(directory, "tree-sitter-bash.wasm")),
    ]);
    // Optimising the lexer takes 0.7 s of a processor and the process waits for it at its end; one parse takes 1 ms.
    setFlagsFromString("--liftoff-only");
    const { Parser, Language } = loadRuntime(directory);
    await Parser.init({ wasmBinary: runtime } as unknown as Parameters<typeof Parser.init>[0]);
    const language = await Language.load(grammar);
    return (script, until) => parse(() => new Parser().setLanguage(language), script, until);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`The bash grammar cannot be loaded from ${directory}: ${message}. Install agentcli again.`, {
      cause: error,
    });
  }
}

/** As a file of its own: it looks for its own name, which it has not in a bundle of ES modules. */
const loadRuntime = (directory: string): typeof import("@vscode/tree-sitter-wasm") =>
  createRequire(join(directory, "/"))("./tree-sitter.cjs");

/** Linux limits arguments to this length, so no longer script can run. */
export const maxCharacters = 131_072;
/** Maximum nesting: deeper trees would overflow the stack of recursive functions. */
const maxDepth = 800;

function parse(openParser: () => Parser, script: string, until: number): Parsed {
  if (script.length > maxCharacters) return unreadable(`the script is longer than ${maxCharacters} characters`);
  if (script.includes("\0")) return unreadable("the script has a NUL character in it");
  if (performance.now() > until) return tooComplex;
  const parser = openParser();
  try {
    const tree = parser.parse(script, null, { progressCallback: () => performance.now() > until });
    if (!tree) return tooComplex;
    try {
      const root = copyTree(tree.walk(), script);
      return root
        ? { kind: "tree", root, sound: !tree.rootNode.hasError }
        : unreadable("the script is nested too deeply");
    } finally {
      tree.delete();
    }
  } catch (error) {
    return unreadable(`the script could not be parsed: ${(error as Error).message}`);
  } finally {
    parser.delete();
  }
}

/** Null when it is nested too deeply. The tree itself is in the memory of the grammar and must be freed. */
function copyTree(cursor: TreeCursor, script: string): SyntaxNode | null {
  try {
    const root = copyNode(cursor, script);
    const open = [root];
    for (let here: SyntaxNode | undefined = root; here; here = open.at(-1)) {
      const further = here.children.length === 0 && cursor.gotoFirstChild();
      if (!further) {
        open.pop();
        if (!cursor.gotoNextSibling()) {
          cursor.gotoParent();
          continue;
        }
      }
      const node = copyNode(cursor, script);
      open.at(-1)?.children.push(node);
      open.push(node);
      if (open.length > maxDepth) return null;
    }
    return root;
  } finally {
    cursor.delete();
  }
}

const copyNode = (cursor: TreeCursor, script: string): SyntaxNode => ({
  type: cursor.nodeType,
  field: cursor.currentFieldName,
  named: cursor.nodeIsNamed,
  text: script.slice(cursor.startIndex, cursor.endIndex),
  start: cursor.startIndex,
  end: cursor.endIndex,
  children: [],
});

const unreadable = (reason: string): Parsed => ({ kind: "unreadable", reason });
const tooComplex = unreadable("the script is too complex to parse");
