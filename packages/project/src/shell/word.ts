// A word of a command: its text, or its source where the value is only known at run time.
export type Word = string | { unknown: string };

export const unknown = (source: string): Word => ({ unknown: source });

export const isKnown = (word: Word | undefined): word is string => typeof word === "string";

/** As written in a shell. */
export function showWords(words: Word[]): string {
  return words.map((word) => (isKnown(word) ? quote(word) : word.unknown)).join(" ");
}

const quote = (text: string): string =>
  /^[\w@%+=:,./~{}^-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
