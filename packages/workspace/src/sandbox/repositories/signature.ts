// What determines which programs git runs in a repository, as one comparable text, and when it last changed.
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { findCommonDirectory, findGitDirectory } from "../../git/index.ts";
import { isMountPoint } from "../mount-points.ts";
import { settingsOfProjects } from "./risks.ts";
import { below, type DirectoryPath, type Repository } from "./search.ts";

export interface RepositorySignature {
  /** Of what makes it a repository: another one took its place if this differs. */
  identity: string;
  /** Of its files that name programs. */
  settings: string;
  /** The latest change of any of them. Commands cannot set it back, as they can a modification time. */
  changedMs: number;
  /** When that was created; 0 where the file system does not record it. */
  createdMs: number;
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
  return { identity: identityOf(own), createdMs: toMs(own.birthtimeNs), ...stateOf([...files, ...rules], [own]) };
}

function nestedSignature(directory: DirectoryPath): RepositorySignature | null {
  const path = below(directory, ".git");
  const git = statOf(path);
  if (git === undefined || isMountPoint(path)) return null;
  const files = gitDirectoriesOf(directory).flatMap(settingFiles);
  return { identity: identityOf(git), createdMs: toMs(git.birthtimeNs), ...stateOf(files, [git]) };
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
  return { identity, createdMs, ...stateOf(settingFiles(directory), parts) };
}

function stateOf(files: DirectoryPath[], parts: BigIntStats[]): Pick<RepositorySignature, "settings" | "changedMs"> {
  const stats = files.map(statOf);
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
];

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
