// What the ignore files of a project hide from commands: paths are hidden by the kernel, not left out of lists.
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { findRepositoryRoot, readRegularFile } from "../git/index.ts";
import { type IgnoreFile, judge, maxPatternLength, readRules } from "../ignore/index.ts";
import { contains, resolveExisting } from "../paths.ts";
import type { SandboxPolicy } from "./policy.ts";

const ignoreFileNames = [".agentignore", ".platformignore"];

/** Each path costs a mount; a directory is one. */
const maxPaths = 1000;
const maxBytes = 1024 * 1024;
/** Other work of this process waits no longer than this. */
const sliceMs = 5;
/** 100,000 files take a third of a second. Patterns of a foreign repository may be made to take hours. */
const maxSearchMs = 60_000;

/**
 * The policy with what the ignore files name. A project without one in its top directory costs one look: those in
 * directories below count only beside it. Throws if something cannot be hidden.
 */
export async function withIgnored(policy: SandboxPolicy): Promise<SandboxPolicy> {
  const found: Found = { hidden: [], files: [] };
  for (const top of topsOf(policy)) if (ignoreFilesIn(top).length > 0) await search(top, found);
  if (found.files.length === 0) return policy;
  return {
    ...policy,
    hidden: [...new Set([...policy.hidden, ...found.hidden])],
    // Otherwise a command could show the paths to the next run.
    protectedPaths: [...policy.protectedPaths, ...found.files.filter((path) => isBelowRoots(path, policy))],
  };
}

interface Found {
  hidden: string[];
  /** The ignore files. */
  files: string[];
}

/**
 * Commands see the whole repository, also if they start below its top. One top may contain another: whether it has an ignore
 * file says nothing of the other.
 */
function topsOf({ root, writableRoots, view, ignoreTops }: SandboxPolicy): string[] {
  const roots = (ignoreTops ?? [root, ...writableRoots]).flatMap(resolveExisting);
  const tops = roots.map((directory) =>
    view === "machine" ? (findRepositoryRoot(directory) ?? directory) : directory,
  );
  return [...new Set(tops)];
}

const isBelowRoots = (path: string, { root, writableRoots }: SandboxPolicy): boolean =>
  [root, ...writableRoots].some((directory) => contains(directory, path));

const ignoreFilesIn = (directory: string): string[] =>
  ignoreFileNames
    .map((name) => join(directory, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);

async function search(top: string, found: Found): Promise<void> {
  const queue: { directory: string; above: IgnoreFile[] }[] = [{ directory: top, above: [] }];
  const inSlices = openSlices(top);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { directory, above } = next;
    const entries = entriesOf(directory);
    const named = entries.map(({ name }) => name).filter((name) => ignoreFileNames.includes(name));
    const files = named.length === 0 ? above : [readIgnoreFiles(directory, named), ...above];
    const { ignored, directories } = await inSlices(divide(directory, entries, files));
    found.files.push(...named.map((name) => join(directory, name)));
    found.hidden.push(...ignored);
    if (found.hidden.length > maxPaths) throw tooMany(found.files[0] ?? top);
    for (const below of directories) queue.push({ directory: below, above: files });
  }
}

/** Runs work that yields often: lets other work of the process run after each slice, and ends after the limit. */
function openSlices(top: string) {
  const end = Date.now() + maxSearchMs;
  let sliceEnd = Date.now() + sliceMs;
  return async <Result>(work: Generator<void, Result>): Promise<Result> => {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      if (Date.now() < sliceEnd) continue;
      if (Date.now() > end) throw tooSlow(top);
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnd = Date.now() + sliceMs;
    }
  };
}

/** What is ignored in a directory, and the directories in it that are not. */
function* divide(directory: string, entries: Dirent[], files: IgnoreFile[]) {
  const [ignored, directories]: [string[], string[]] = [[], []];
  for (const entry of entries) {
    if (entry.name === ".git" || ignoreFileNames.includes(entry.name)) continue;
    const path = join(directory, entry.name);
    if (yield* judge(files, path, entry.isDirectory() ? "directory" : "other")) ignored.push(nameable(path));
    else if (entry.isDirectory()) directories.push(path);
  }
  return { ignored, directories };
}

function readIgnoreFiles(directory: string, names: string[]): IgnoreFile {
  const rules = names.flatMap((name) => {
    const path = join(directory, name);
    const content = lstatSync(path).isFile() ? readRegularFile(path) : undefined;
    if (content === undefined || content.length > maxBytes) throw unreadable(path);
    const text = content.toString("utf8");
    const longLine = text.split("\n").findIndex((line) => line.length > maxPatternLength);
    if (longLine >= 0) throw tooLong(path, longLine + 1);
    return readRules(text);
  });
  return { directory, rules };
}

/** What this user may not list, commands cannot list either. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Bytes that are no text were read as this character: the path does not lead to the file. */
function nameable(path: string): string {
  if (!path.includes("\ufffd")) return path;
  throw new SandboxUnavailable(
    `An ignore file names ${JSON.stringify(path)}, which cannot be hidden: its name is not text.`,
    "Rename it, or name the directory that contains it.",
  );
}

const tooMany = (file: string) =>
  new SandboxUnavailable(
    `The ignore files of ${dirname(file)} match more than ${maxPaths} files and directories.`,
    "Name directories instead of the files in them: each path is hidden by itself.",
  );

const tooSlow = (top: string) =>
  new SandboxUnavailable(
    `Matching the ignore files of ${top} takes more than a minute.`,
    "Use fewer and simpler patterns, or name directories that contain many files.",
  );

const tooLong = (path: string, line: number) =>
  new SandboxUnavailable(
    `Line ${line} of ${path} is longer than ${maxPatternLength} characters.`,
    "Use a shorter pattern, or name the directory that contains the files.",
  );

const unreadable = (path: string) =>
  new SandboxUnavailable(
    `${path} cannot be read: it must be a regular file of at most 1 MB.`,
    "Correct it, or remove it to hide nothing.",
  );
