// Paths: which contain which, and which exist.
import { existsSync, realpathSync } from "node:fs";

export const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);

/** The real path; empty when it does not exist. */
export function resolveExisting(path: string): string[] {
  // Hundreds of paths are looked for at every start, and nearly all are missing: an exception costs more than this look.
  if (!existsSync(path)) return [];
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
