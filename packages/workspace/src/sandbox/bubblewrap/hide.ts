// Hides paths, also those that are created or replaced while the sandbox runs. A mount over a path would not: the kernel
// removes it when the path is replaced. So the directory around it is rebuilt, empty, with its other entries.
import { type Dirent, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { contains, resolveExisting } from "../../paths.ts";
import { type HiddenPath, locateHidden } from "../hidden-paths.ts";
import type { Mount } from "./arguments.ts";

/** Of a larger directory only directories and dot files are shown: each entry costs a mount. */
const maxEntries = 1000;
/** The machine's own are not visible, so nothing in them needs hiding. */
const replacedDirectories = ["/tmp", "/run", "/dev", "/proc"];

/** Entries of `live` directories must appear as they are created: there, only what exists can be hidden. */
export function hideMounts(hidden: string[], live: string[]): Mount[] {
  const located = hidden.flatMap((path) => locateHidden(path));
  const paths = located.map(({ directory, name }) => join(directory, name));
  const isVisible = ({ directory }: HiddenPath) => !paths.some((path) => contains(path, directory));
  const visible = located.filter(isVisible);
  const directories = new Set(visible.map(({ directory }) => directory));
  const entriesOf = new Map([...directories].map((directory) => [directory, listEntries(directory, live)]));
  return [...entriesOf].flatMap(([directory, entries]): Mount[] => {
    const names = new Set(visible.flatMap((hiding) => (hiding.directory === directory ? hiding.name : [])));
    if (entries === undefined) return existing([...names].map((name) => join(directory, name))).map(maskPath);
    const others = entries.filter(({ name }) => !names.has(name) && entriesOf.get(join(directory, name)) === undefined);
    return [{ kind: "rebuilt", path: directory }, ...others.flatMap((entry) => show(directory, entry))];
  });
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
