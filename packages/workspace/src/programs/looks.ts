// What a search for programs sees of the file system.
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { resolveExisting } from "../paths.ts";
import { readMounts } from "./mounts.ts";
import { onlyUserCanChange } from "./writers.ts";

export interface Looks {
  /** What a path stands for. */
  realPathsOf(path: string): string[];
  /** Those of them that only this user and root can change. */
  safePathsOf(path: string): string[];
  /** The real path of an executable file. */
  programAt(path: string): string | undefined;
  /** Turns a real path into one that is the same for each of its names. */
  mounts(): (path: string) => string;
}

export const freshLooks: Looks = {
  mounts: () => readMounts(),
  realPathsOf: resolveExisting,
  safePathsOf: (path) => resolveExisting(path).filter((real) => isOfNode(real) || onlyUserCanChange(real)),
  programAt(path) {
    // Most directories of PATH do not have it, and an error costs more than the question.
    if (!existsSync(path)) return undefined;
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile() ? realpathSync(path) : undefined;
    } catch {
      return undefined;
    }
  },
};

/** Uses what was seen for a time: for a server that starts programs many times a second. */
export function keepLooks(forMs: number, now: () => number = () => performance.now()): Looks {
  const mounts = kept(freshLooks.mounts);
  return {
    realPathsOf: kept(freshLooks.realPathsOf),
    safePathsOf: kept(freshLooks.safePathsOf),
    programAt: kept(freshLooks.programAt),
    mounts: () => mounts(""),
  };

  function kept<Seen>(look: (path: string) => Seen): (path: string) => Seen {
    const seen = new Map<string, Seen>();
    let until = 0;
    return (path) => {
      if (now() >= until) {
        seen.clear();
        until = now() + forMs;
      }
      const known = seen.has(path) ? (seen.get(path) as Seen) : look(path);
      seen.set(path, known);
      return known;
    };
  }
}

/** A user who can write beside the Node that runs this controls it already. Not below: it may be in /opt or in a home. */
const isOfNode = (path: string): boolean => [path, dirname(path)].includes(dirname(process.execPath));
