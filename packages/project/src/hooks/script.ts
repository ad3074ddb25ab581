// The repository file that a hook's command runs: its content is trusted together with the command.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, isAbsolute, relative, resolve } from "node:path";
import type { HookDefinition } from "@agentcli/protocol";
import { splitWords } from "../shell/split-words.ts";
import { sha256 } from "./hash.ts";

export interface ScriptSearch {
  /** Base directories of relative paths, the likeliest first. */
  directories: string[];
  repository: string;
}

/** Undefined if the command runs no file of the repository. */
export function scriptOf(command: string, search: ScriptSearch): HookDefinition["script"] {
  const word = programWord(splitWords(command) ?? []);
  if (word === undefined) return undefined;
  const expandedPath = expanded(word, search.repository);
  for (const directory of search.directories) {
    const path = isAbsolute(expandedPath) ? expandedPath : resolve(directory, expandedPath);
    const hash = isInside(path, search.repository) ? hashOfFile(path) : null;
    if (hash !== null) return { path, hash };
  }
  return undefined;
}

/** Limit of a script, so that a huge or endless file is not read. */
const maxBytes = 64 * 1024 * 1024;

/** Null if there is no such file. Does not block on a pipe that replaced it meanwhile. */
export function hashOfFile(path: string): string | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxBytes ? `sha256:${sha256(readFileSync(descriptor))}` : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const interpreters = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|ruby|perl|php|bash|sh|zsh|dash|pwsh)$/;
const wrappers = new Set(["env", "exec", "command", "time", "nice", "nohup"]);

/** The first word, or the script argument of an interpreter. */
function programWord(words: string[]): string | undefined {
  const [first, ...rest] = words;
  if (first === undefined) return undefined;
  if (/^\w+=/.test(first) || wrappers.has(basename(first))) return programWord(rest);
  if (!interpreters.test(basename(first))) return first.includes("/") ? first : undefined;
  return rest.find((word) => !word.startsWith("-") && word !== "run");
}

const expanded = (word: string, repository: string): string =>
  word.replace(/^\$\{?(?:AGENT|PLATFORM)_PROJECT_DIR\}?/, repository);

function isInside(path: string, repository: string): boolean {
  return [path, realPath(path)].some((candidate) => !/^\.\.(\/|$)/.test(relative(repository, candidate)));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
