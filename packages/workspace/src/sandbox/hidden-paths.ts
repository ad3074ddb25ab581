// Where a hidden path is, or would appear: symbolic links are followed, and missing directories are named.
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

export interface HiddenPath {
  /** Exists; without symlinks. */
  directory: string;
  /** The entry to hide in it, which may not exist yet. */
  name: string;
}

const maxLinks = 40;

/** A link is hidden itself, and so is what it points to: either may be replaced later. */
export function locateHidden(path: string, linksLeft = maxLinks): HiddenPath[] {
  const { directory, names } = nearestDirectory(path);
  const [name, ...below] = names;
  if (name === undefined) return [];
  const target = linksLeft === 0 ? undefined : readLink(join(directory, name));
  const here = { directory, name };
  return target === undefined ? [here] : [here, ...locateHidden(resolve(directory, target, ...below), linksLeft - 1)];
}

/** The deepest directory above the path that exists, and the names from there on. */
function nearestDirectory(path: string): { directory: string; names: string[] } {
  const names: string[] = [];
  let directory = path;
  do {
    if (directory === "/") return { directory, names };
    names.unshift(basename(directory));
    directory = dirname(directory);
  } while (realPath(directory) === undefined);
  return { directory: realPath(directory) ?? directory, names };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
