// Links that lead from directories of agents to files of the user: what is written through one goes where an agent wants it.
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { resolveExisting } from "../paths.ts";

/** The first link on the way to the path, itself included, that is in such a directory. Links of the user are followed. */
export function findLink(path: string, isInside: (realPath: string) => boolean): string | undefined {
  let directory = "/";
  for (const name of resolve(path).split("/").filter(Boolean)) {
    const next = join(directory, name);
    if (isLink(next) && isInside(directory)) return next;
    // What does not exist has no links below.
    directory = resolveExisting(next)[0] ?? next;
  }
  return undefined;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    // A directory above it is a file, or cannot be entered.
    return false;
  }
}
