// Finds files below a directory within bounds: depth, directories and entries are counted, circles of links are not followed.
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export interface FoundFile {
  path: string;
  /** Without links: two ways to one file have the same. */
  realPath: string;
}

export interface WalkLimits {
  depth: number;
  directories: number;
  entries: number;
}

export interface Walk {
  files: FoundFile[];
  /** A bound was reached: there may be more. */
  isCut: boolean;
}

export const usualLimits: WalkLimits = { depth: 6, directories: 2_000, entries: 20_000 };

export interface Search {
  isWanted(name: string): boolean;
  /** Directories that are passed over beside one that is wanted. */
  passedOver?: Set<string>;
  limits?: WalkLimits;
}

/** In the order of their names. Hidden directories are passed over, directories that are links are followed. */
export function findFiles(root: string, { isWanted, passedOver, limits = usualLimits }: Search): Walk {
  const files: FoundFile[] = [];
  const left = { ...limits };
  const seen = new Set<string>();
  const visit = (path: string, realPath: string, depth: number): void => {
    if (seen.has(realPath) || left.directories === 0) return;
    seen.add(realPath);
    left.directories -= 1;
    const entries = entriesOf(path);
    const isFound = passedOver !== undefined && entries.some(({ name }) => isWanted(name));
    for (const entry of entries) {
      if (left.entries === 0) return;
      left.entries -= 1;
      const found = look(entry, path, realPath);
      if (found?.kind === "file" && isWanted(entry.name)) files.push(found.file);
      if (isFound && passedOver.has(entry.name)) continue;
      if (found?.kind === "directory" && depth < limits.depth && !entry.name.startsWith("."))
        visit(found.file.path, found.file.realPath, depth + 1);
    }
  };
  const realRoot = realPathOf(root);
  if (realRoot !== null) visit(root, realRoot, 0);
  return { files, isCut: left.directories === 0 || left.entries === 0 };
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    // Not there, not a directory or not ours to read: then there is nothing to find in it.
    return [];
  }
}

type Looked = { kind: "file" | "directory"; file: FoundFile };

function look(entry: Dirent, directory: string, realDirectory: string): Looked | null {
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
