// Whether the first words of a command match the pattern of a rule.
import type { Word } from "../shell/word.ts";

/** A word that is only known at run time matches nothing. */
export const matchesPattern = (pattern: string[][], words: Word[]): boolean =>
  pattern.every((alternatives, index) => {
    const word = words[index];
    return typeof word === "string" && alternatives.includes(word);
  });
