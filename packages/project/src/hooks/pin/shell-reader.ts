// What the parts of the reader of shell code share: words, commands, and the text with the position in it.

/** A word of the source text. The value is null where it is known only when the command runs. */
export interface ShellWord {
  start: number;
  end: number;
  value: string | null;
  /** What it expands that is not known: names of variables, `$(` for a command, `*` for a pattern. */
  unknown: string[];
  /** Whether the shell may make several words of it. */
  splits: boolean;
}

export interface SimpleCommand {
  /** `NAME=value` in front of the program. */
  assignments: ShellWord[];
  words: ShellWord[];
  /** Files that redirections write. */
  targets: ShellWord[];
  /** Neither conditional nor in a subshell: a change of directory lasts for the commands after it. */
  isSequential: boolean;
}

export type Variables = ReadonlyMap<string, string>;

export interface KnownVariables {
  variables: Variables;
  /** Set in the text itself, to one value: they may be empty at some point. */
  constants: Variables;
}

/** Thrown with a sentence part: why a command cannot be pinned. */
export class Unpinnable extends Error {
  override name = "Unpinnable";
  /** Where in the text; undefined if that is not known. */
  at: number | undefined;
}

export interface ShellCode {
  /** All commands that the text runs, in their order, also those in functions and inside `( )` and `$( )`. */
  commands: SimpleCommand[];
  functions: Set<string>;
}

export interface Reader extends ShellCode, KnownVariables {
  source: string;
  at: number;
  /** Of the word that is being read. */
  unknown: string[];
  /** Inside of double quotes. */
  isQuoted: boolean;
  isSequential: boolean;
  /** Compound commands and subshells around this point. */
  nesting: number;
  /** Case statements around this point. */
  cases: number;
  /** Reads what is inside of brackets, from behind the first one to behind the last one. */
  readSubshell(reader: Reader): void;
  /** Here-documents that begin after the current line. */
  documents: { end: string; isQuoted: boolean; stripsTabs: boolean }[];
}

export const blank = /(?:[ \t]|\\\n)+|#[^\n]*/y;

export function notKnown({ unknown }: Reader, name: string): null {
  unknown.push(name);
  return null;
}

export function take(reader: Reader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.source);
  if (match === null) return null;
  reader.at += match[0].length;
  return match[0];
}
