// What determines which programs git runs in a repository, as one comparable text, and when it last changed.
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, readRegularFile } from "../../git/index.ts";
import { isMountPoint } from "../mount-points.ts";
import { directoriesIn, maxModules, modulesIn } from "./modules.ts";
import { settingsOfProjects, unfinishedWork } from "./risks.ts";
import { below, type DirectoryPath, type Repository } from "./search.ts";
import { trapsIn } from "./traps.ts";

export interface RepositorySignature {
  /** Of what makes it a repository: another one took its place if this differs. */
  identity: string;
  /** Of its files that name programs, and what leads git out of it. */
  settings: string;
  /** The latest change of any of them. Commands cannot set it back, as they can a modification time. */
  changedMs: number;
  /** When that was created, or later became what it is; 0 where the file system does not record it. */
  createdMs: number;
  /** When the last of its parts came to be where it is, if that was later: moving something leaves it its age. */
  assembledMs: number;
}

/** Null if there is none, or only the mount point that keeps `.git` from being created. */
export function signatureOf({ directory, entry }: Repository): RepositorySignature | null {
  if (entry === ".agentcli") return settingsSignature(below(directory, entry));
  return entry === "HEAD" ? bareSignature(directory) : nestedSignature(directory);
}

function settingsSignature(folder: DirectoryPath): RepositorySignature | null {
  const own = statOf(folder);
  if (own === undefined || isMountPoint(folder)) return null;
  const files = settingsOfProjects.map((name) => below(folder, name));
  const rules = files.flatMap((path) => namesIn(path).map((name) => below(path, name)));
  const createdMs = toMs(own.birthtimeNs);
  return { identity: identityOf(own), createdMs, assembledMs: createdMs, ...stateOf([...files, ...rules], [own]) };
}

function nestedSignature(directory: DirectoryPath): RepositorySignature | null {
  const path = below(directory, ".git");
  const git = statOf(path);
  if (git === undefined || isMountPoint(path)) return null;
  const directories = gitDirectoriesOf(directory).flatMap(withModules).flatMap(withWorktrees);
  const times = { createdMs: createdMs(path, git), assembledMs: assembledMs(path, git) };
  const { settings, changedMs } = stateOf(directories.flatMap(settingFiles), [git]);
  const traps = directories.flatMap(trapsIn);
  return { identity: identityOf(git), ...times, changedMs, settings: [settings, ...traps].join() };
}

const repositoryParts = ["HEAD", "config", "objects", "refs"];

/** A directory that was there before can be renamed to `.git`; but then its parts are new. Git replaces only the first two of them. */
function createdMs(path: DirectoryPath, git: BigIntStats): number {
  const parts = repositoryParts.flatMap((name) => statOf(below(path, name)) ?? []);
  const ownMs = toMs(git.birthtimeNs);
  return parts.length < repositoryParts.length
    ? ownMs
    : Math.max(ownMs, Math.min(...parts.map(({ birthtimeNs }) => toMs(birthtimeNs))));
}

/** Nothing can be moved or written without this time, which commands cannot set; in a repository of before, a part stays as it was. */
function assembledMs(path: DirectoryPath, git: BigIntStats): number {
  const parts = repositoryParts.flatMap((name) => statOf(below(path, name)) ?? []);
  return Math.min(...[git, ...parts].map(({ ctimeNs }) => toMs(ctimeNs)));
}

/** A file with another content is another one. */
const identityOf = (entry: BigIntStats): string =>
  [entry.mode, entry.ino, ...(entry.isDirectory() ? [] : [entry.ctimeNs])].join(" ");

/** Git replaces HEAD with every change of the branch; the parts beside it stay. */
function bareSignature(directory: DirectoryPath): RepositorySignature | null {
  const parts = ["objects", "refs", "commondir"].flatMap((name) => statOf(below(directory, name)) ?? []);
  if (parts.length === 0 || statOf(below(directory, "HEAD")) === undefined) return null;
  const identity = parts.map(({ mode, ino }) => `${mode} ${ino}`).join();
  const createdMs = Math.max(...parts.map(({ birthtimeNs }) => toMs(birthtimeNs)));
  return { identity, createdMs, assembledMs: createdMs, ...stateOf(settingFiles(directory), parts) };
}

function stateOf(files: DirectoryPath[], parts: BigIntStats[]): Pick<RepositorySignature, "settings" | "changedMs"> {
  // What keeps a file from being created is not that file.
  const stats = files.map((path) => (isMountPoint(path) ? undefined : statOf(path)));
  return {
    settings: stats.map((stat) => stat && [stat.ino, stat.mode, stat.size, stat.ctimeNs].join(" ")).join(),
    changedMs: Math.max(...[...parts, ...stats].map((stat) => toMs(stat?.ctimeNs ?? 0n))),
  };
}

const toMs = (ns: bigint): number => Number(ns / 1_000_000n);

function gitDirectoriesOf(directory: DirectoryPath): DirectoryPath[] {
  // A name that is not text is only ever new: it is judged by `.git` alone.
  if (typeof directory !== "string") return [below(directory, ".git")];
  const gitDirectory = findGitDirectory(directory);
  if (gitDirectory === undefined) return [below(directory, ".git")];
  return [...new Set([gitDirectory, findCommonDirectory(gitDirectory)])];
}

const names = [
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "info/attributes",
  "objects/info/alternates",
  "hooks",
  ...unfinishedWork,
  "rebase-merge/git-rebase-todo",
  "rebase-apply/git-rebase-todo",
  "sequencer/todo",
];

/** With the repositories of submodules that are not checked out: git uses them when they are. The others are watched themselves. */
const withModules = (gitDirectory: DirectoryPath): DirectoryPath[] => [
  gitDirectory,
  ...modulesIn(gitDirectory)
    .slice(0, maxModules)
    .filter((module) => !isCheckedOut(module)),
];

/** With what leads the linked working trees, wherever they are, to their repository. */
const withWorktrees = (gitDirectory: DirectoryPath): DirectoryPath[] => {
  const worktrees = below(gitDirectory, "worktrees");
  return [
    gitDirectory,
    ...directoriesIn(worktrees)
      .slice(0, maxModules)
      .map((name) => below(worktrees, name)),
  ];
};

function isCheckedOut(module: DirectoryPath): boolean {
  const config = readRegularFile(below(module, "config"))?.toString("utf8") ?? "";
  const [, worktree] = /^\s*worktree\s*=\s*(\S.*?)\s*$/im.exec(config) ?? [];
  if (worktree === undefined) return false;
  const git = findGitDirectory(resolve(String(module), worktree));
  return git !== undefined && resolve(git) === resolve(String(module));
}

const settingFiles = (gitDirectory: DirectoryPath): DirectoryPath[] => [
  ...names.map((name) => below(gitDirectory, name)),
  ...namesIn(below(gitDirectory, "hooks")).map((name) => below(below(gitDirectory, "hooks"), name)),
];

function namesIn(directory: DirectoryPath): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function statOf(path: DirectoryPath): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    // A parent is not a directory, or not accessible.
    return undefined;
  }
}
