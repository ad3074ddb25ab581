// A directory of scripts as a list of its files, in a fixed order and up to a limit.
import { constants, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { hashOf, sha256 } from "../hash.ts";
import { readRegularFile } from "./files.ts";

export type TreeEntry = { name: string } & ({ kind: "file"; content: Buffer } | { kind: "link"; target: string });

const maxFiles = 256;
const maxBytes = 8 * 1024 * 1024;
/** Never loaded from a copy: packages, repositories, compiled files. */
const skipped = new Set(["node_modules", ".git", "__pycache__"]);

/** Null if it cannot be read as a whole, is larger than what may be pinned, or has a link to a directory elsewhere. */
export function readTree(directory: string): TreeEntry[] | null {
  const entries: TreeEntry[] = [];
  let bytes = 0;
  const read = (below: string): boolean => {
    for (const name of readdirSync(join(directory, below)).sort()) {
      if (skipped.has(name)) continue;
      const inner = below === "" ? name : `${below}/${name}`;
      const stats = lstatSync(join(directory, inner));
      bytes += stats.isFile() ? stats.size : 0;
      if (entries.length >= maxFiles || bytes > maxBytes) return false;
      if (stats.isDirectory() && !read(inner)) return false;
      if (stats.isSymbolicLink() && !staysInside(inner, directory) && isDirectory(join(directory, inner))) return false;
      const entry = readEntry(directory, inner);
      if (entry) entries.push(entry);
    }
    return true;
  };
  try {
    return read("") ? entries : null;
  } catch {
    return null;
  }
}

function readEntry(directory: string, name: string): TreeEntry | null {
  const path = join(directory, name);
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) {
    if (staysInside(name, directory)) return { kind: "link", name, target: readlinkSync(path) };
    const content = readRegularFile(path);
    return content && { kind: "file", name, content };
  }
  const content = stats.isFile() ? readRegularFile(path, constants.O_NOFOLLOW) : null;
  return content === null ? null : { kind: "file", name, content };
}

/** A link that leads out of the directory has no target in a copy: it counts as the file that it leads to. */
function staysInside(name: string, directory: string): boolean {
  const target = readlinkSync(join(directory, name));
  return !isAbsolute(target) && !normalize(join(dirname(name), target)).startsWith("..");
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

export const hashOfContent = (content: Buffer): string => `sha256:${sha256(content)}`;

export const hashOfTree = (entries: TreeEntry[]): string =>
  hashOfNames(
    entries.map((entry) => [entry.name, entry.kind === "file" ? hashOfContent(entry.content) : entry.target]),
  );

/** A tree whose only file has this hash. */
export const hashOfSingleFile = (name: string, hash: string): string => hashOfNames([[name, hash]]);

const hashOfNames = (entries: [name: string, hash: string][]): string => hashOf({ tree: entries });
