// Where a project keeps things: the directories on the way from its root to where a run works.
import { dirname, join, relative, sep } from "node:path";

/** From the outermost to the innermost, both included; only the inner one where it does not lie in the outer. */
export function directoriesBetween(outer: string, inner: string): string[] {
  if (!contains(outer, inner)) return [inner];
  const names = relative(outer, inner).split(sep).filter(Boolean);
  return [outer, ...names.map((_, index) => join(outer, ...names.slice(0, index + 1)))];
}

export const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);

/** Those strictly between the two, and the inner one. */
export const directoriesBelow = (outer: string, inner: string): string[] =>
  contains(outer, inner) ? directoriesBetween(outer, inner).slice(1) : [];

/** The directory a path names or lies in. */
export const directoryOf = (path: string, kind: "directory" | "file"): string =>
  kind === "directory" ? path : dirname(path);
