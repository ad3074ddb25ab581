// A position in the lines of a patch.
import { marker } from "./markers.ts";

/** `at` is the next line to read, `end` the line of the end marker. */
export interface Reader {
  lines: string[];
  at: number;
  end: number;
}

/** Lines are counted from 1. */
export interface Problem {
  line: number;
  problem: string;
}

export const current = ({ lines, at }: Reader): string => lines[at] ?? "";

/** The line so many lines ahead; empty behind the end. */
export const lineAt = ({ lines, at, end }: Reader, ahead: number): string =>
  at + ahead < end ? (lines[at + ahead] ?? "") : "";

/** A header with stars, or the end. */
export const atFileHeader = (reader: Reader): boolean =>
  reader.at >= reader.end || (current(reader).startsWith("***") && current(reader).trimEnd() !== marker.endOfFile);

export function skipBlank(reader: Reader): void {
  while (reader.at < reader.end && current(reader).trim() === "") reader.at += 1;
}
