// Finds files below a directory within limits of depth, directories and entries; link cycles are not followed.
import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export interface FoundFile {
  path: string;
  /** Without symbolic links: two paths of one file have the same. */
  realPath: string;
}

export interface WalkLimits {
  depth: number;
  directories: number;
  entries: number;
}

export interface Walk {
  files: FoundFile[];
  /** A limit was reached: there may be more. */
  isCut: boolean;
}

export const defaultLimits: WalkLimits = { depth: 6, directories: 2_000, entries: 20_000 };

export interface Search {
  matchesName(name: string): boolean;
  /** Names of directories that are skipped next to a matching file. */
  skippedDirectories?: Set<string>;
  limits?: WalkLimits;
}

/** In the order of their names. Hidden directories are skipped, linked directories are followed. */
export function findFiles(root: string, { matchesName, skippedDirectories, limits = defaultLimits }: Search): Walk {
  const files: FoundFile[] = [];
  const remaining = { ...limits };
  const seen = new Set<string>();
  const visit = (path: string, realPath: string, depth: number): void => {
    if (seen.has(realPath) || remaining.directories === 0) return;
    seen.add(realPath);
    remaining.directories -= 1;
    const entries = entriesOf(path);
    const hasMatch = skippedDirectories !== undefined && entries.some(({ name }) => matchesName(name));
    for (const entry of entries) {
      if (remaining.entries === 0) return;
      remaining.entries -= 1;
      const classified = classify(entry, path, realPath);
      if (classified?.kind === "file" && matchesName(entry.name)) files.push(classified.file);
      if (hasMatch && skippedDirectories.has(entry.name)) continue;
      if (classified?.kind === "directory" && depth < limits.depth && !entry.name.startsWith("."))
        visit(classified.file.path, classified.file.realPath, depth + 1);
    }
  };
  const realRoot = existsSync(root) ? realPathOf(root) : null;
  if (realRoot !== null) visit(root, realRoot, 0);
  return { files, isCut: remaining.directories === 0 || remaining.entries === 0 };
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    // Missing, not a directory, or not readable: nothing to find.
    return [];
  }
}

type Entry = { kind: "file" | "directory"; file: FoundFile };

function classify(entry: Dirent, directory: string, realDirectory: string): Entry | null {
  const path = join(directory, entry.name);
  if (entry.isFile() || entry.isDirectory()) {
    return { kind: entry.isFile() ? "file" : "directory", file: { path, realPath: join(realDirectory, entry.name) } };
  }
  const realPath = entry.isSymbolicLink() ? realPathOf(path) : null;
  if (realPath === null) return null;
  const stats = statSync(realPath, { throwIfNoEntry: false });
  if (!stats?.isFile() && !stats?.isDirectory()) return null;
  return { kind: stats.isFile() ? "file" : "directory", file: { path, realPath } };
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
