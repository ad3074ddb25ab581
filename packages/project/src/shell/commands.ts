// The commands that a shell script runs: in its branches, substitutions and functions, and through wrappers.
import { hiddenSubstitutions, lastCommandOf, noTail, readCommandNode, type Tail, tailOf } from "./command-node.ts";
import { openGrammar, type Parse, type SyntaxNode } from "./grammar.ts";
import { splitWords } from "./split-words.ts";
import type { Word } from "./word.ts";
import { readWrapped } from "./wrappers.ts";

export interface Command {
  words: Word[];
  /** Runs other commands, which are listed too: `env`, `bash -c`, `xargs` … */
  wraps: boolean;
}

/** `unknown`: more may run than is listed. */
export type Commands =
  | { kind: "commands"; commands: Command[] }
  | { kind: "unknown"; commands: Command[]; reason: string };

export interface ShellReader {
  commandsOf(script: string): Commands;
  /** A command that is already split into words. */
  commandsOfWords(words: string[]): Commands;
}

/** `grammarDirectory` holds the two .wasm files of the grammar. */
export async function openShellReader(grammarDirectory: string): Promise<ShellReader> {
  const parse = await openGrammar(grammarDirectory);
  const start = (): Reading => ({
    parse,
    commands: [],
    reasons: [],
    depth: 0,
    scripts: 0,
    until: performance.now() + maxMs,
  });
  return {
    commandsOf(script) {
      const reading = start();
      readScript(script, reading);
      return result(reading);
    },
    commandsOfWords(words) {
      const reading = start();
      addCommand(words, null, reading);
      return result(reading);
    },
  };
}

interface Reading {
  parse: Parse;
  commands: Command[];
  reasons: string[];
  /** Scripts and commands within one another. */
  depth: number;
  scripts: number;
  until: number;
}

const maxDepth = 100;
const maxScripts = 1_000;
/** A valid script of maximum length takes about 300 ms. */
const maxMs = 2_000;

function result({ commands, reasons: [reason] }: Reading): Commands {
  return reason === undefined ? { kind: "commands", commands } : { kind: "unknown", commands, reason };
}

function readScript(script: string, reading: Reading): void {
  const parsed = ++reading.scripts > maxScripts ? tooMany : reading.parse(script, reading.until);
  if (parsed.kind === "unreadable") {
    reading.reasons.push(parsed.reason);
    readRoughly(script, reading);
    return;
  }
  if (!parsed.sound) reading.reasons.push("a part of the script could not be parsed");
  visit(parsed.root, noTail, reading);
  for (const text of hiddenSubstitutions(parsed.root)) within(reading, () => readScript(text, reading));
}

const tooMany = { kind: "unreadable", reason: `there are more than ${maxScripts} scripts within the script` } as const;

function visit(node: SyntaxNode, tail: Tail, reading: Reading): void {
  const command = node.type === "command" ? readCommandNode(node, tail) : null;
  if (command) addCommand(command.words, command.input, reading);
  if (node.type === "ERROR") readRoughly(node.text, reading);
  if (isBackticked(node)) {
    const script = node.text.slice(1, -1).replace(/\\([\\`$])/g, "$1");
    within(reading, () => readScript(script, reading));
    return;
  }
  const inherits = node.type === "redirected_statement" ? tailOf(node) : tail;
  const last = lastCommandOf(node);
  for (const child of node.children) visit(child, child === last ? inherits : noTail, reading);
}

const isBackticked = (node: SyntaxNode): boolean => node.type === "command_substitution" && node.text.startsWith("`");

function addCommand(words: Word[], input: string | null, reading: Reading): void {
  const inside = readWrapped(words, input);
  reading.commands.push({ words, wraps: inside.kind !== "nothing" && inside.kind !== "unknown" });
  if (inside.kind === "unknown" || inside.kind === "template") reading.reasons.push(inside.reason);
  if (inside.kind === "script" || inside.kind === "template") {
    within(reading, () => readScript(inside.script, reading));
  }
  if (inside.kind === "commands") {
    within(reading, () => {
      for (const inner of inside.commands) addCommand(inner, null, reading);
    });
  }
}

function within(reading: Reading, read: () => void): void {
  if (reading.depth >= maxDepth) {
    reading.reasons.push("commands are nested too deeply");
    return;
  }
  reading.depth++;
  read();
  reading.depth--;
}

/** Text that does not parse may still run: each part of it counts as a command. */
function readRoughly(text: string, reading: Reading): void {
  for (const part of text.split(/[\n;&|(){}`]+/)) {
    const words = splitWords(part) ?? part.split(/\s+/);
    const program = words.findIndex((word) => !mayPrecedeProgram.test(word));
    if (program !== -1) within(reading, () => addCommand(words.slice(program), null, reading));
  }
}

const mayPrecedeProgram = /^(|\w+=.*|!|if|then|elif|else|while|until|do)$/s;
