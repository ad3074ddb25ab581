// Opens what an agent could replace by a link at any moment: only what is really at its path is read.
import { closeSync, constants, openSync, readlinkSync } from "node:fs";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** The path without links. Null if it was removed, or is now something else or somewhere else. */
export function openWithoutLinks(path: string, kind: "file" | "directory"): number | null {
  const file = openIfThere(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (kind === "directory" ? O_DIRECTORY : 0));
  if (file === null || isAt(file, path)) return file;
  closeSync(file);
  return null;
}

/** By its descriptor, so that no directory on the way to it can be replaced. */
export const pathOf = (file: number, path: string): string =>
  process.platform === "linux" ? `/proc/self/fd/${file}` : path;

const isAt = (file: number, path: string): boolean =>
  process.platform !== "linux" || readlinkSync(`/proc/self/fd/${file}`) === path;

const goneOrReplaced = ["ENOENT", "ELOOP", "ENOTDIR", "ENXIO"];

function openIfThere(path: string, flags: number): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (goneOrReplaced.includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
