// A directory that commands see at another path than the host, the same on every machine. Pure.
import { relative } from "node:path";
import { contains } from "../paths.ts";

export interface Placement {
  /** Its path on the host, without symlinks. */
  directory: string;
  /** Its path inside. */
  path: string;
}

/** The path that commands use for a path of the host. */
export function insidePath(placement: Placement | null, path: string): string {
  if (placement === null || !contains(placement.directory, path)) return path;
  const below = relative(placement.directory, path);
  return below === "" ? placement.path : `${placement.path}/${below}`;
}
