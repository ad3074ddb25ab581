// The files of a merge, cherry-pick or revert in progress, between the shadow and the real repository.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { operationFiles } from "./scripts.ts";

/** Name to content. */
export type OperationFiles = Map<string, Buffer>;

export function readOperationFiles(gitDirectory: string): OperationFiles {
  const files = operationFiles.filter((name) => isFile(join(gitDirectory, name)));
  return new Map(files.map((name) => [name, readFileSync(join(gitDirectory, name))]));
}

/** Those that files other than messages name. */
export const commitsInOperation = (files: OperationFiles): string[] =>
  [...files].flatMap(([name, content]) =>
    name.endsWith("_HEAD") ? (content.toString("latin1").match(/^[0-9a-f]{40,64}$/gm) ?? []) : [],
  );

/** Returns why the state stays in the sandbox; undefined if it was written. */
export function writeOperationFiles(
  gitDirectory: string,
  base: OperationFiles,
  next: OperationFiles,
): string | undefined {
  if (isSame(base, next)) return undefined;
  if (!isSame(base, readOperationFiles(gitDirectory))) return "a merge was started outside the sandbox.";
  if (![...next].every(isWellFormed)) return "its files are not those of git.";
  for (const name of operationFiles) writeFile(join(gitDirectory, name), base.get(name), next.get(name));
  return undefined;
}

const isSame = (one: OperationFiles, other: OperationFiles): boolean =>
  one.size === other.size && [...one].every(([name, content]) => other.get(name)?.equals(content));

const maxMessageBytes = 1024 * 1024;

/** Messages are free text; everything else names commits. */
function isWellFormed([name, content]: [string, Buffer]): boolean {
  if (!operationFiles.includes(name) || content.length > maxMessageBytes) return false;
  if (name.endsWith("_MSG")) return true;
  const text = content.toString("latin1");
  return name === "MERGE_MODE" ? /^(?:no-ff)?\n?$/.test(text) : /^(?:[0-9a-f]{40,64}\n)+$/.test(text);
}

function writeFile(path: string, before: Buffer | undefined, after: Buffer | undefined): void {
  if (after === undefined) rmSync(path, { force: true });
  if (after === undefined || before?.equals(after)) return;
  writeFileSync(`${path}.new`, after);
  renameSync(`${path}.new`, path);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
