// Restricts git to the files it works on. A process that writes to the work tree at the same time could replace a file that
// git has just checked by a link to any file of the machine; inside the fence the target of such a link does not exist.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

export interface Fence {
  /** Absolute directories. Apart from programs, nothing else is visible. */
  reads: string[];
  writes: string[];
}

export interface Command {
  program: string;
  args: string[];
}

/** Unfenced if bubblewrap is not installed: agents cannot run commands then, so no other process writes to the work tree. */
export function fencedGit(args: string[], fence: Fence, path: string): Command {
  const bubblewrap = findProgram("bwrap", path);
  if (bubblewrap === undefined) return { program: "git", args };
  const programs = [...systemDirectories, ...installDirectory(findProgram("git", path))];
  const mounts = [
    ...programs.flatMap((directory) => ["--ro-bind-try", directory, directory]),
    ...["--dev", "/dev"],
    ...fence.reads.flatMap((directory) => ["--ro-bind", directory, directory]),
    ...fence.writes.flatMap((directory) => ["--bind", directory, directory]),
  ];
  const [workingDirectory = "/"] = fence.reads;
  const options = ["--unshare-user", "--unshare-ipc", "--die-with-parent", ...mounts, "--chdir", workingDirectory];
  return { program: bubblewrap, args: [...options, "--", "git", ...args] };
}

/** System directories with programs and their libraries. */
const systemDirectories = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"],
  "/etc/ld.so.cache",
];

/** The prefix of a git installed elsewhere, which has its own programs next to it: `PREFIX/bin/git`. */
const installDirectory = (git: string | undefined): string[] =>
  git === undefined || systemDirectories.some((directory) => git.startsWith(`${directory}/`))
    ? []
    : [dirname(dirname(git))];

function findProgram(name: string, path: string): string | undefined {
  for (const directory of path.split(delimiter).filter((entry) => entry.startsWith("/"))) {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return realpathSync(join(directory, name));
    } catch {
      // Not in this directory.
    }
  }
  return undefined;
}
