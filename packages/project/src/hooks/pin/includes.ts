// Files that a script loads by a fixed name: they are pinned with it.
import { isBuiltin } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { firstBytes, isFile, type Workspace } from "./files.ts";

export type Language = "shell" | "javascript" | "python" | "other";

/** By its name, or else by its first line. */
export function languageOf(path: string, start: string): Language {
  const [first = ""] = start.split("\n");
  if (/^#!.*\b(?:ba|da|z|k)?sh\b/.test(first)) return "shell";
  if (/^\.[mc]?[jt]s$/.test(extname(path)) || /^#!.*\bnode\b/.test(first)) return "javascript";
  if (extname(path) === ".py" || /^#!.*\bpython/.test(first)) return "python";
  if (/^\.(?:sh|bash|zsh)$/.test(extname(path)) || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(first)) return "shell";
  // A shell runs a text without a first line of this kind itself.
  return extname(path) === "" && !start.startsWith("#!") && !start.includes("\0") ? "shell" : "other";
}

export interface Includes {
  files: string[];
  /** Perhaps started, perhaps data: pinned without the directory around them, which may be that of the project's own files. */
  alone: string[];
  /** A package that the script takes from the workspace, where it cannot be pinned. */
  packageName: string | null;
}

export interface Script {
  path: string;
  text: string;
  language: Language;
}

export function includesOf(script: Script, workspace: Workspace): Includes {
  const includes = loadedBy(script, workspace);
  const { loaded, mentioned } = namedFromTop(script, workspace);
  return { ...includes, files: [...includes.files, ...loaded], alone: mentioned };
}

function loadedBy(script: Script, workspace: Workspace): Omit<Includes, "alone"> {
  const beside = dirname(script.path);
  const isOwn = (path: string) => isFile(path) && workspace.isInside(path);
  switch (script.language) {
    case "javascript": {
      const specifiers = importsOf(script.text);
      const packageName = specifiers.find((name) => !isRelative(name) && !isBuiltin(name)) ?? null;
      const files = specifiers.filter(isRelative).flatMap((name) => resolveModule(resolve(beside, name)).filter(isOwn));
      return { files, packageName };
    }
    case "python":
      return {
        ...none,
        files: modulesOf(script.text)
          .flatMap((name) => moduleFiles(beside, name))
          .filter(isOwn),
      };
    case "shell":
      return none;
    case "other":
      return {
        ...none,
        files: quotedPaths(script.text)
          .map((name) => resolve(beside, name))
          .filter(isOwn),
      };
  }
}

/**
 * Scripts that it names from the top of the project: `sh "$AGENT_PROJECT_DIR/tools/x.sh"` loads one, `spawn("tools/x.sh")`
 * mentions one. They are not replaced by their copies, because they may be data; but commands cannot change them.
 */
function namedFromTop({ path, text, language }: Script, workspace: Workspace) {
  const bases = [...new Set([dirname(path), ...workspace.directories, ...workspace.roots])];
  const find = (name: string): string[] =>
    [`/${name}`, ...bases.map((base) => resolve(base, name))]
      .filter((each) => isFile(each) && workspace.isInside(each))
      .map(workspace.pathOf);
  const matches = Array.from(text.matchAll(language === "shell" ? belowVariable : inQuotes), ({ groups }) => ({
    isLoaded: groups?.loader !== undefined,
    name: (groups?.name ?? "").replace(/^\/+/, ""),
  }));
  const code = text.replaceAll(commentLines[language], "");
  const started = new Set(Array.from(code.matchAll(startedByName), ({ groups }) => groups?.name ?? ""));
  const namesOf = (isLoaded: boolean) => [
    ...new Set(matches.filter((match) => match.isLoaded === isLoaded).map(({ name }) => name)),
  ];
  return {
    loaded: namesOf(true).flatMap(find),
    mentioned: [...namesOf(false).flatMap(find).filter(isStartable), ...[...started].flatMap(find)],
  };
}

/** By its name, or by its first line. */
const isStartable = (path: string): boolean => /\.(?:ba|z)?sh$/.test(path) || firstBytes(path, 2) === "#!";

/** `"$ROOT/tools/x.sh"`, `"${ROOT:-.}/tools/x.sh"`, `"$(git rev-parse --show-toplevel)/tools/x.sh"` */
const belowVariable =
  /(?<loader>(?:\b(?:source|bash|sh|dash|zsh|node|python3?)|(?<=^|[\s;&|(])\.)(?:[ \t]+-[\w-]+)*[ \t]+["']?)?(?:\$\w+|\$\{[^}\n]+\}|\$\([^()\n]*(?:\([^()\n]*\))?[^()\n]*\))["']?(?<name>\/[\w./-]+)/gm;

/** A path with a slash, or the name of a shell script, as a string or as a word in one. */
const inQuotes = /(?<=["'`\s}])(?<name>(?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)+|[\w.-]+\.(?:ba|z)?sh)(?=["'`\s])/g;

/** `spawn("node", ["tools/x.js"])`, `execSync("python3 tools/x.py")`, `fork("tools/x.js")`, `awk -f tools/x.awk` */
const startedByName =
  /(?:\b(?:node|python3?|perl|ruby|php|(?:awk|sed|make)["'`,\s]+-f)\b(?:["'`,\s[]+-[\w-]+)*|\b(?:fork|Worker)\b\)?|\b(?:execPath|executable)\b)["'`,\s[(]+(?:\.\/)?(?<name>\w[\w.-]*(?:\/[\w.-]+)+)(?=["'`\s;&|)]|$)/gm;

/** They start nothing: `// run by hand: node src/cli.js`. */
const commentLines: Record<Language, RegExp> = {
  shell: /^[ \t]*#.*$/gm,
  python: /^[ \t]*#.*$/gm,
  // Not `#run() {` or `*each() {` of a class.
  javascript: /^[ \t]*(?:\/\/|\*(?=[ \t])).*$/gm,
  other: /^[ \t]*(?:#|\/\/).*$/gm,
};

const none: Omit<Includes, "alone"> = { files: [], packageName: null };

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

const isRelative = (name: string): boolean => /^(?:\.{1,2})?(?:\/|$)|^file:/.test(name);

const extensions = ["", ".js", ".mjs", ".cjs", ".json", ".ts", "/index.js", "/index.cjs", "/index.json"];

const resolveModule = (path: string): string[] => {
  const found = extensions.map((extension) => path + extension).find(isFile);
  return found === undefined ? [] : [found];
};

const modulesOf = (text: string): string[] =>
  Array.from(
    text.matchAll(/^[ \t]*(?:from[ \t]+\.*([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))/gm),
    ([, from, list]) => (from ?? list ?? "").split(",").map((name) => name.trim().split(/\s/)[0] ?? ""),
  ).flat();

const moduleFiles = (directory: string, name: string): string[] => {
  const path = resolve(directory, ...name.split("."));
  return [`${path}.py`, `${path}/__init__.py`];
};

const quotedPaths = (text: string): string[] =>
  Array.from(text.matchAll(/["'](\.{1,2}\/[\w./-]+)["']/g), ([, name = ""]) => name);
