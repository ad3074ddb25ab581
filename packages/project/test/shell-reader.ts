// The shell reader over the grammar as it is built, and its results as short text.
import { fileURLToPath } from "node:url";
import { type Commands, openShellReader } from "../src/shell/commands.ts";
import type { Word } from "../src/shell/word.ts";

export const grammarDirectory = fileURLToPath(new URL("../../cli/dist", import.meta.url));
export const shell = await openShellReader(grammarDirectory);

/** One line per command; unknown values are in angle brackets. */
export const show = ({ commands }: Commands): string[] => commands.map(({ words }) => words.map(showWord).join(" "));

const showWord = (word: Word): string => (typeof word === "string" ? word : `<${word.unknown}>`);
