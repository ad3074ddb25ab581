// The shell reader over the installed grammar, and its results as short text.
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { type Commands, openShellReader, type Word } from "../src/shell/index.ts";

export const grammarDirectory = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"));
export const shell = await openShellReader(grammarDirectory);

/** One line per command; what is not known stands in angle brackets. */
export const show = ({ commands }: Commands): string[] => commands.map(({ words }) => words.map(showWord).join(" "));

const showWord = (word: Word): string => (typeof word === "string" ? word : `<${word.unknown}>`);
