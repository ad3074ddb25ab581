// The language of a script, and files that code loads by a fixed name.
import { extname } from "node:path";
import { isFile } from "./files.ts";

/** `data` is loaded and never run. */
export type Language = "shell" | "javascript" | "python" | "perl" | "ruby" | "data" | "other";

/** By its name, or else by its first line. */
export function languageOf(path: string, start: string): Language {
  const [first = ""] = start.split("\n");
  if (/^#!.*\b(?:ba|da|z|k)?sh\b/.test(first)) return "shell";
  if (/^\.[mc]?[jt]s$/.test(extname(path)) || /^#!.*\bnode\b/.test(first)) return "javascript";
  if (extname(path) === ".py" || /^#!.*\bpython/.test(first)) return "python";
  if (/^\.(?:sh|bash|zsh)$/.test(extname(path)) || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(first)) return "shell";
  if (extname(path) === ".json") return "data";
  if (/^\.p[lm]$/.test(extname(path)) || /^#!.*\bperl\b/.test(first)) return "perl";
  if (extname(path) === ".rb" || /^#!.*\bruby\b/.test(first)) return "ruby";
  // A shell runs a text without a first line of this kind itself.
  return extname(path) === "" && !start.startsWith("#!") && !start.includes("\0") ? "shell" : "other";
}

const extensions = ["", ".js", ".mjs", ".cjs", ".json", ".ts", "/index.js", "/index.cjs", "/index.json"];

export const resolveModule = (path: string): string[] => {
  const found = extensions.map((extension) => path + extension).find(isFile);
  return found === undefined ? [] : [found];
};
