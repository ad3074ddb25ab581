// Files as pinning reads them: once, as regular files, and only up to a limit.
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { contains } from "../../files/directories.ts";

/** Where the files of a command are looked for. */
export interface Workspace {
  /** Base directories of relative paths, the likeliest first. */
  directories: string[];
  /** Directories that agents may write to, without symbolic links. */
  roots: string[];
  /** Variables whose values are known before the command runs. */
  variables: ReadonlyMap<string, string>;
  /** Whether an agent could replace what the path names. */
  isInside(path: string): boolean;
  /** The root that contains the path. */
  rootOf(path: string): string | undefined;
  /** The path below one of the roots, where it is inside one of them. */
  pathOf(path: string): string;
}

export function openWorkspace(
  directories: string[],
  writable: string[],
  variables: ReadonlyMap<string, string>,
): Workspace {
  const roots = [...new Set(writable.map(realPath))];
  const all = [...new Set([...writable, ...roots])];
  const isInside = (path: string) => [path, realPath(path)].some((each) => all.some((root) => contains(root, each)));
  const rootOf = (path: string) => roots.find((root) => contains(root, path));
  const pathOf = (path: string) => (rootOf(path) === undefined ? realPath(path) : path);
  return { directories, roots, variables, isInside, rootOf, pathOf };
}

/** The path itself if it does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** False too where a part of the path is a file, or cannot be entered. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Limit of a script, so that a huge or endless file is not read. */
const maxBytes = 64 * 1024 * 1024;

/** Null if there is no such regular file. Does not block on a pipe that replaced it meanwhile. */
export function readRegularFile(path: string, flags = 0): Buffer | null {
  return withFile(path, flags, (descriptor, size) => (size <= maxBytes ? readFileSync(descriptor) : null));
}

/** The start of a file as text; empty if it cannot be read. */
export function firstBytes(path: string, count: number): string {
  const bytes = withFile(path, 0, (descriptor) => {
    const buffer = Buffer.alloc(count);
    return buffer.subarray(0, readSync(descriptor, buffer));
  });
  return bytes?.toString("latin1") ?? "";
}

function withFile(
  path: string,
  flags: number,
  read: (descriptor: number, size: number) => Buffer | null,
): Buffer | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const stats = fstatSync(descriptor);
    return stats.isFile() ? read(descriptor, stats.size) : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
