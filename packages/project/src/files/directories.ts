// The directories between the root of a project and the working directory of a run.
import { dirname, join, relative, sep } from "node:path";

/** From the outermost to the innermost, both included; only the inner one where it is not inside the outer. */
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

/** The directory that a path names or is in. */
export const directoryOf = (path: string, kind: "directory" | "file"): string =>
  kind === "directory" ? path : dirname(path);
