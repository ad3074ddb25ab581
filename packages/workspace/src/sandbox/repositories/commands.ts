// The files of a working tree that a command in the settings of git names.
import { type BigIntStats, existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readRegularFile } from "../../git/index.ts";

interface ProgramSearch {
  root: string;
  home: string;
  /** Programs that do not exist. */
  missing: "counted" | "ignored";
  /** In an alias they name where people work: `cd frontend && npm start`, `commit -m docs`. */
  directories: "counted" | "ignored";
}

/**
 * The files that a command names, in whatever directory of the tree `$(git rev-parse --show-toplevel)/x` or `$PWD/x` is.
 * A program may be missing; another word is a file only if there is one. A directory that the command changes to counts as a
 * whole: tools read files there that are not named.
 */
export function programsIn(setting: string, { root, home, missing, directories }: ProgramSearch): string[] {
  const command = setting.replace(/^ext::/, "");
  const starts = command.split(/[|&;(]+/).map((text) => /^[\s!'"]*([^\s'"]+)/.exec(text)?.[1] ?? "");
  const programs = starts.filter((word) => /^(?:\.{1,2}\/|\w)[\w.-]*(?:\/[\w.-]+)+$/.test(word));
  const plain = command.split(/[\s'"`|&;()<>${}=]+/).filter(Boolean);
  const words = [...plain, ...Array.from(command.matchAll(quoted), ([, single, double]) => single ?? double ?? "")];
  const below = words.filter((word) => word.includes("/")).map((word) => `.${word.slice(word.indexOf("/"))}`);
  const inTree = (word: string) => resolve(root, expandHome(word, home));
  const files = [
    ...programs.map(inTree).filter((path) => missing === "counted" || existsSync(path)),
    ...[...words, ...words.flatMap(withExtensions)].map(inTree).filter((path) => isNamed(path, root)),
    ...below.map(inTree).filter((path) => isFile(path) && isNamed(path, root)),
  ];
  if (directories === "ignored") return files.filter((path) => !isDirectory(path));
  return [
    ...files,
    ...Array.from(command.matchAll(directory), ([, name = ""]) => inTree(name)).filter(existsSync),
    ...Array.from(command.matchAll(module), ([, name = ""]) => inTree(name.split(".")[0] ?? "")).filter(existsSync),
  ];
}

const quoted = /'([^']+)'|"([^"]+)"/g;
/** `cd tools`, `make -s -C tools`, `git -c a=b -C tools`, `--directory=tools`; but not `git grep -C tools`. */
const directory =
  /(?:\bcd\s+|\b(?:make|ninja|pnpm|go|cargo)\s(?:[^&;|]*?\s)?-C\s*|\bgit(?:\s+-c\s+[^\s-]\S*|\s+-(?!C)\S+)*\s+-C\s*|--directory[=\s])["']?([^\s'"&;|]+)/g;
/** `python3 -u -m tools.clean`: the package as a whole. */
const module = /(?:python|pypy)[^&;|]*?\s-m\s*([A-Za-z_][\w.]*)/gi;

/** `node tools/clean` */
const withExtensions = (word: string): string[] =>
  word.includes("/") ? [".js", ".mjs", ".cjs", ".json", ".py", ".rb"].map((extension) => word + extension) : [];

/** `~/x` and `~user/x`, as git reads them. */
export function expandHome(path: string, home: string): string {
  const [, user, rest = ""] = /^~([\w.-]*)(\/.*)$/s.exec(path) ?? [];
  if (user === undefined) return path;
  return user === "" ? home + rest : (homeOf(user) ?? `~${user}`) + rest;
}

function homeOf(user: string): string | undefined {
  const users = readRegularFile("/etc/passwd")?.toString("utf8").split("\n") ?? [];
  return users.map((line) => line.split(":")).find(([name]) => name === user)?.[5];
}

/** A word is a file if there is one; without a directory, as in `sh clean.sh`, only if it is a script. */
function isNamed(path: string, root: string): boolean {
  return dirname(path) === root ? isFile(path) && isScript(path) : existsSync(path);
}

export const isFile = (path: string): boolean => statOf(path)?.isFile() === true;

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const isScript = (path: string): boolean =>
  /\.(?:\w*sh|py|rb|pl|[mc]?[jt]s)$/.test(path) || readRegularFile(path)?.subarray(0, 2).toString() === "#!";

export function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    // A directory above it is a file, or cannot be entered.
    return undefined;
  }
}

export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
