// The files of a merge, cherry-pick or rebase in progress, between the shadow and the real repository. A rebase that
// would run commands when the user continues it stays in the sandbox.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { operationDirectories, operationFiles } from "./scripts.ts";

/** Path below the git directory to content. */
export type OperationFiles = Map<string, Buffer>;

export function readOperationFiles(gitDirectory: string): OperationFiles {
  const nested = operationDirectories.flatMap((directory) =>
    readNames(join(gitDirectory, directory)).map((name) => `${directory}/${name}`),
  );
  const files = [...operationFiles, ...nested].filter((name) => isFile(join(gitDirectory, name)));
  return new Map(files.map((name) => [name, readFileSync(join(gitDirectory, name))]));
}

/** Returns why the state stays in the sandbox; undefined if it was written. */
export function writeOperationFiles(
  gitDirectory: string,
  base: OperationFiles,
  next: OperationFiles,
): string | undefined {
  if (isSame(base, next)) return undefined;
  if (!isSame(base, readOperationFiles(gitDirectory))) return "a merge or rebase was started outside the sandbox.";
  if (![...next].every(isHarmless)) return "a rebase in progress runs commands.";
  for (const name of base.keys()) if (!next.has(name)) rmSync(join(gitDirectory, name), { force: true });
  for (const [name, content] of next)
    if (!base.get(name)?.equals(content)) replaceFile(join(gitDirectory, name), content);
  for (const name of operationDirectories) removeIfEmpty(join(gitDirectory, name));
  return undefined;
}

const isSame = (one: OperationFiles, other: OperationFiles): boolean =>
  one.size === other.size && [...one].every(([name, content]) => other.get(name)?.equals(content));

const harmlessCommands =
  /^(?:#.*|\s*|(?:p|pick|r|reword|e|edit|s|squash|f|fixup|d|drop|l|label|t|reset|m|merge|u|update-ref|b|break|noop|revert)(?:\s.*)?)$/;
const ownStrategies = /^(?:ort|recursive|resolve|octopus|ours|subtree)?\s*$/;

const harmlessOptions =
  /^(?:\[options\]|\s*(?:no-commit|edit|allow-[a-z-]+|signoff|record-origin|mainline|default-msg-cleanup) = [\w-]*|\s*)$/;

/** The names that git itself uses, without those that name a program. */
function isHarmless([name, content]: [string, Buffer]): boolean {
  const text = content.toString("utf8");
  if (/\/(?:git-rebase-todo(?:\.backup)?|done|todo)$/.test(name))
    return text.split("\n").every((line) => harmlessCommands.test(line));
  if (name.endsWith("/strategy")) return ownStrategies.test(text);
  if (name.endsWith("/opts")) return text.split("\n").every((line) => harmlessOptions.test(line));
  return !/\/(?:gpg_sign_opt|strategy_opts)$/.test(name) || text.trim() === "";
}

function replaceFile(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function removeIfEmpty(directory: string): void {
  if (existsSync(directory) && readNames(directory).length === 0) rmSync(directory, { recursive: true });
}

function readNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
