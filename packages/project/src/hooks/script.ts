// The file of the repository that a hook's command runs: what it says is trusted together with the command.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, isAbsolute, relative, resolve } from "node:path";
import type { HookDefinition } from "@agentcli/protocol";
import { splitWords } from "../shell/split-words.ts";
import { sha256 } from "./hash.ts";

export interface ScriptPlace {
  /** Where relative words may be meant from, the likeliest first. */
  directories: string[];
  repository: string;
}

/** Undefined where the command runs nothing of the repository. */
export function scriptOf(command: string, place: ScriptPlace): HookDefinition["script"] {
  const word = programWord(splitWords(command) ?? []);
  if (word === undefined) return undefined;
  const meant = expanded(word, place.repository);
  for (const directory of place.directories) {
    const path = isAbsolute(meant) ? meant : resolve(directory, meant);
    const hash = isInside(path, place.repository) ? hashOfFile(path) : null;
    if (hash !== null) return { path, hash };
  }
  return undefined;
}

/** No script is larger; whoever may write the file could have us read for ever. */
const mostBytes = 64 * 1024 * 1024;

/** Null where there is no such file. Does not wait at a pipe that was put in its place this moment. */
export function hashOfFile(path: string): string | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= mostBytes ? `sha256:${sha256(readFileSync(descriptor))}` : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const interpreters = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|ruby|perl|php|bash|sh|zsh|dash|pwsh)$/;
const wrappers = new Set(["env", "exec", "command", "time", "nice", "nohup"]);

/** The first word, or the script an interpreter named by it is given. */
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
