// Holds git to the files it is about. Whoever writes to a work tree at the same time could put a link to anything on the
// machine in the place of what git has just looked at; behind the fence such a link leads nowhere.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

export interface Fence {
  /** Directories, absolute. All else but programs is not there. */
  reads: string[];
  writes: string[];
}

export interface Command {
  program: string;
  args: string[];
}

/** As it was where there is no bubblewrap: commands of agents do not run there either, so nobody is in the work tree. */
export function fencedGit(args: string[], fence: Fence, path: string): Command {
  const bubblewrap = findProgram("bwrap", path);
  if (bubblewrap === undefined) return { program: "git", args };
  const programs = [...systemDirectories, ...ownDirectory(findProgram("git", path))];
  const mounts = [
    ...programs.flatMap((place) => ["--ro-bind-try", place, place]),
    ...["--dev", "/dev"],
    ...fence.reads.flatMap((place) => ["--ro-bind", place, place]),
    ...fence.writes.flatMap((place) => ["--bind", place, place]),
  ];
  const [workPlace = "/"] = fence.reads;
  const walls = ["--unshare-user", "--unshare-ipc", "--die-with-parent", ...mounts, "--chdir", workPlace];
  return { program: bubblewrap, args: [...walls, "--", "git", ...args] };
}

/** Where programs and their libraries are. */
const systemDirectories = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"],
  "/etc/ld.so.cache",
];

/** A git that was installed elsewhere, with its own programs beside it: `PLACE/bin/git`. */
const ownDirectory = (git: string | undefined): string[] =>
  git === undefined || systemDirectories.some((place) => git.startsWith(`${place}/`)) ? [] : [dirname(dirname(git))];

function findProgram(name: string, path: string): string | undefined {
  for (const place of path.split(delimiter).filter((one) => one.startsWith("/"))) {
    try {
      accessSync(join(place, name), constants.X_OK);
      return realpathSync(join(place, name));
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}
