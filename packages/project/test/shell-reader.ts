// The shell reader over the installed grammar, and its results as short text.
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { type Commands, openShellReader } from "../src/shell/commands.ts";
import type { Word } from "../src/shell/word.ts";

export const grammarDirectory = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"));
export const shell = await openShellReader(grammarDirectory);

/** One line per command; unknown values are in angle brackets. */
export const show = ({ commands }: Commands): string[] => commands.map(({ words }) => words.map(showWord).join(" "));

const showWord = (word: Word): string => (typeof word === "string" ? word : `<${word.unknown}>`);
