// A position in the text of a rules file that moves forward and counts lines.
import type { Location } from "./rules-error.ts";

export interface Source {
  text: string;
  at: number;
  line: number;
  lineStart: number;
  brackets: number;
}

export const locationIn = ({ line, at, lineStart }: Source): Location => ({ line, column: at - lineStart + 1 });

/** Moves past this many characters, counting lines. */
export function advance(source: Source, length: number): string {
  const passed = source.text.slice(source.at, source.at + length);
  source.at += length;
  const lines = passed.split("\n").length - 1;
  source.line += lines;
  if (lines > 0) source.lineStart = source.at - (passed.length - passed.lastIndexOf("\n") - 1);
  return passed;
}
