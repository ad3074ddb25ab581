// Links that lead from directories of agents to files of the user: what is written through one goes where an agent wants it.
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { resolveExisting } from "../paths.ts";

export type OutputPath =
  /** In a directory of agents, which may change what is there at any time; its real path then, without links of theirs. */
  | { kind: "agents"; realPath: string }
  /** On the way is a link that an agent may have made. */
  | { kind: "link"; link: string }
  | { kind: "user" };

/** The first link on the way to the path, itself included, that is in such a directory. Links of the user are followed. */
export function outputPath(path: string, isInside: (realPath: string) => boolean): OutputPath {
  let directory = "/";
  for (const name of resolve(path).split("/").filter(Boolean)) {
    const next = join(directory, name);
    const isOfAgents = isInside(directory);
    if (isOfAgents && isLink(next)) return { kind: "link", link: next };
    // What does not exist has no links below. In a directory of agents a link may have come since.
    directory = isOfAgents ? next : (resolveExisting(next)[0] ?? next);
  }
  return isInside(directory) ? { kind: "agents", realPath: directory } : { kind: "user" };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    // A directory above it is a file, or cannot be entered.
    return false;
  }
}
