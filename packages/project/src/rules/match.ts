// Whether the first words of a command fit the pattern of a rule.
import type { Word } from "../shell/word.ts";

/** A word that is not known fits nothing. */
export const fitsPattern = (pattern: string[][], words: Word[]): boolean =>
  pattern.every((alternatives, index) => {
    const word = words[index];
    return typeof word === "string" && alternatives.includes(word);
  });
