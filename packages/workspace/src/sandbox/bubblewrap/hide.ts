// Hides paths, also those that are created or replaced while the sandbox runs. A mount over a path would not: the kernel
// removes it when the path is replaced. So the directory around it is rebuilt, empty, with its other entries.
import { type Dirent, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { contains, resolveExisting } from "../../paths.ts";
import { locateHidden } from "../hidden-paths.ts";
import type { Mount } from "./arguments.ts";

/** Of a larger directory only directories and dot files are shown: each entry costs a mount. */
const maxEntries = 1000;
/** The machine's own are not visible, so nothing in them needs hiding. */
const replacedDirectories = ["/tmp", "/run", "/dev", "/proc"];

/** Entries of `live` directories must appear as they are created: there, only what exists can be hidden. */
export function hideMounts(hidden: string[], live: string[]): Mount[] {
  const located = locateHidden(hidden);
  const paths = new Set(located.map(({ directory, name }) => join(directory, name)));
  const namesIn = new Map<string, Set<string>>();
  for (const { directory, name } of located) {
    if (isInside(directory, paths)) continue;
    const names = namesIn.get(directory) ?? new Set();
    namesIn.set(directory, names.add(name));
  }
  const entriesOf = new Map([...namesIn.keys()].map((directory) => [directory, listEntries(directory, live)]));
  return [...namesIn].flatMap(([directory, names]): Mount[] => {
    const entries = entriesOf.get(directory);
    if (entries === undefined) return existing([...names].map((name) => join(directory, name))).map(maskPath);
    const others = entries.filter(({ name }) => !names.has(name) && entriesOf.get(join(directory, name)) === undefined);
    return [{ kind: "rebuilt", path: directory }, ...others.flatMap((entry) => show(directory, entry))];
  });
}

/** Only what exists in these directories, for a view that shows nothing else of the machine. */
export const maskInside = (directories: string[], hidden: string[]): Mount[] =>
  existing(locateHidden(hidden).map(({ directory, name }) => join(directory, name)))
    .filter((path) => directories.some((directory) => contains(directory, path)))
    .map(maskPath);

/** Whether the directory is one of the paths or below one. */
function isInside(directory: string, paths: Set<string>): boolean {
  return paths.has(directory) || (directory !== "/" && isInside(dirname(directory), paths));
}

/** Undefined if the directory cannot be rebuilt. */
function listEntries(directory: string, live: string[]): Dirent[] | undefined {
  if (directory === "/" || [...replacedDirectories, ...live].some((other) => contains(other, directory)))
    return undefined;
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.length <= maxEntries ? entries : entries.filter(isEssential);
  } catch {
    // This user may not list it.
    return undefined;
  }
}

const isEssential = (entry: Dirent) => entry.isDirectory() || entry.name.startsWith(".");

/** Without links: the target of a link is located by itself. */
const existing = (paths: string[]) => paths.filter((path) => resolveExisting(path)[0] === path);

/** Must exist, without symlinks. */
export const maskPath = (path: string): Mount =>
  statSync(path).isDirectory() ? { kind: "hidden-directory", path } : { kind: "hidden-file", path };

/** Not sockets, pipes and devices, nor what cannot be accessed, such as a file system that was disconnected. */
function show(directory: string, entry: Dirent): Mount[] {
  const path = join(directory, entry.name);
  try {
    if (entry.isSymbolicLink()) return [{ kind: "symlink", path, target: readlinkSync(path) }];
    const isShown = (entry.isDirectory() || entry.isFile()) && statSync(path, { throwIfNoEntry: false }) !== undefined;
    return isShown ? [{ kind: "entry", path }] : [];
  } catch {
    return [];
  }
}
