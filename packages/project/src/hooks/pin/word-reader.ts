// Code in perl and ruby as words outside of strings and patterns. What cannot be read for sure is refused.
import { unknownText } from "./code-calls.ts";
import { refuse } from "./code-tokens.ts";

export interface Word {
  text: string;
  at: number;
  end: number;
}

export interface WordReader {
  source: string;
  at: number;
  words: Word[];
  /** The last token: a word, a sign, or `""` for a string. Decides whether a slash divides. */
  last: string;
}

export const openWords = (source: string): WordReader => ({ source, at: 0, words: [], last: ";" });

export function take(reader: WordReader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source)?.[0];
  if (found === undefined) return null;
  reader.at += found.length;
  return found;
}

export const isLineStart = ({ source, at }: WordReader): boolean => at === 0 || source[at - 1] === "\n";

/** From the line that opens a comment to the end of the one that closes it; false if none does. */
export function skipLines(reader: WordReader, close: RegExp): boolean {
  const { source } = reader;
  const nextLine = (at: number) => source.indexOf("\n", at) + 1;
  for (let at = nextLine(reader.at); at !== 0; at = nextLine(at)) {
    close.lastIndex = at;
    if (!close.test(source)) continue;
    reader.at = (nextLine(at) || source.length + 1) - 1;
    return true;
  }
  return false;
}

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}", "<": ">" };

/** Text up to the sign that closes it; the reader is at the one that opens it. Brackets inside have to be closed too. */
export function takeDelimited(reader: WordReader): string {
  const { source, at: start } = reader;
  const open = source[start] ?? "";
  const close = closing[open] ?? open;
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === open && (close !== open || depth === 0)) depth++;
    else if (source[at] === close && --depth === 0) {
      reader.at = at + 1;
      return source.slice(start + 1, at);
    }
  }
  throw refuse(start, "a string is not closed");
}

/** Whether a value is in front, so that a slash divides it. Behind a bracket that closes a block it is not known. */
export function isOperandBefore({ last, at }: WordReader, words: RegExp): boolean {
  if (last === "}") throw refuse(at, "a slash after } is not read");
  return (
    last === '""' ||
    /^[)\]]$/.test(last) ||
    /^[$@%]/.test(last) ||
    /^\d/.test(last) ||
    (/^\w/.test(last) && !words.test(last))
  );
}

export const unknownWordAt = (text: string, at: number) => refuse(at, unknownText(text.trim()));
