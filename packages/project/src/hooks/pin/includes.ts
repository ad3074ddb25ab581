// The language of a script, and files that code loads by a fixed name.
import { isBuiltin } from "node:module";
import { extname, resolve } from "node:path";
import { isFile, type Workspace } from "./files.ts";

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

/** What inline code loads from the workspace by a fixed name; null if nothing. Shell code is read as commands. */
export function mayLoad(code: string, language: Language, { directories }: Workspace): string | null {
  if (language === "shell") return null;
  const isThere = (name: string) =>
    directories.some((directory) => resolveModule(resolve(directory, name)).some(isFile));
  if (language !== "javascript") return quotedPaths(code).find(isThere) ?? null;
  return importsOf(code).find((name) => !isBuiltin(name)) ?? null;
}

const importing =
  /(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire\s*\(\s*|\brequire\.resolve\s*\(\s*)(["'`])([^"'`\n$]+)\1/g;

const importsOf = (text: string): string[] => Array.from(text.matchAll(importing), ([, , name = ""]) => name);

const extensions = ["", ".js", ".mjs", ".cjs", ".json", ".ts", "/index.js", "/index.cjs", "/index.json"];

export const resolveModule = (path: string): string[] => {
  const found = extensions.map((extension) => path + extension).find(isFile);
  return found === undefined ? [] : [found];
};

const quotedPaths = (text: string): string[] =>
  Array.from(text.matchAll(/["'](\.{1,2}\/[\w./-]+)["']/g), ([, name = ""]) => name);
