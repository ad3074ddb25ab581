// Protects the repositories below a writable root: what is mounted can be neither replaced nor moved away, so the
// directories above each `.git` are mounted too. A rename from one mount to another is a copy (EXDEV).
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { findCommonDirectory, findGitDirectory } from "../../git/index.ts";
import { resolveExisting } from "../../paths.ts";
import { isMountPoint } from "../mount-points.ts";
import { refuseSymlink } from "../paths.ts";
import { decidingMount, type Mount } from "./arguments.ts";

/** Those in hidden or read-only directories need nothing. */
export function protectRepositories(directories: string[], before: Mount[]): Mount[] {
  const mounts: Mount[] = [];
  for (const directory of directories) {
    const paths = [join(directory, ".git"), ...linkedDirectories(directory)];
    for (const path of paths) mounts.push(...protectPath(path, [...before, ...mounts]));
  }
  return mounts;
}

/** Nothing can be created at these paths. */
export function protectAbsent(paths: string[], before: Mount[]): Mount[] {
  const mounts: Mount[] = [];
  for (const path of paths) mounts.push(...protectPath(path, [...before, ...mounts]));
  return mounts;
}

function protectPath(path: string, mounts: Mount[]): Mount[] {
  const writable = decidingMount(path, mounts);
  if (writable?.kind !== "writable" || writable.path === path) return [];
  const pinned: Mount[] = [];
  for (const parent of parentsBetween(writable.path, path)) {
    const kind = kindAt(parent);
    // Nothing can be created there, so neither can a repository.
    if (kind === "missing") return [...pinned, { kind: "absent", path: parent }];
    pinned.push({ kind: "writable", path: parent });
    if (kind === "file") return pinned;
  }
  if (kindAt(path) === "missing") return [...pinned, { kind: "absent", path }];
  return [...pinned, { kind: "read-only", path, source: path }];
}

/** From the top down, without either end. */
function parentsBetween(top: string, path: string): string[] {
  const parents: string[] = [];
  for (let parent = dirname(path); parent !== top; parent = dirname(parent)) parents.unshift(parent);
  return parents;
}

/** Where a `.git` file points, if commands could write there. */
function linkedDirectories(directory: string): string[] {
  if (!lstatSync(join(directory, ".git"), { throwIfNoEntry: false })?.isFile()) return [];
  const gitDirectory = findGitDirectory(directory);
  return gitDirectory === undefined ? [] : [gitDirectory, findCommonDirectory(gitDirectory)].flatMap(resolveExisting);
}

function kindAt(path: string): "missing" | "file" | "directory" {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || isMountPoint(path)) return "missing";
  if (entry.isSymbolicLink()) throw refuseSymlink(path);
  return entry.isDirectory() ? "directory" : "file";
}
