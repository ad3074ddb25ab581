// The command as it runs: every file that it names is replaced by its copy, and node gets options that hold code to what was read.
import { quote } from "./shell-words.ts";

/** A part of the command that is replaced. */
export interface Edit {
  start: number;
  end: number;
  by: CopiedFile | InnerScript | AddedWords;
}

/** The path of a file's copy, behind words that run it. */
interface CopiedFile {
  path: string;
  with?: string[];
}

interface InnerScript {
  script: string;
  edits: Edit[];
}

interface AddedWords {
  words: string[];
}

/** The command with every file replaced by its copy. */
export function applyEdits(source: string, edits: Edit[], copyOf: (path: string) => string): string {
  const inOrder = [...edits].sort((one, other) => other.start - one.start);
  return inOrder.reduce((text, { start, end, by }) => {
    return `${text.slice(0, start)}${textOf(by, copyOf)}${text.slice(end)}`;
  }, source);
}

function textOf(by: Edit["by"], copyOf: (path: string) => string): string {
  if ("words" in by) return by.words.map((word) => ` ${word}`).join("");
  if ("script" in by) return quote(applyEdits(by.script, by.edits, copyOf));
  return [...(by.with ?? []), quote(copyOf(by.path))].join(" ");
}
