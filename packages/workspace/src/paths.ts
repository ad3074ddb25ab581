// Paths: which contain which, and which exist.
import { realpathSync } from "node:fs";

export const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);

/** The real path; empty when it does not exist. */
export function resolveExisting(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
