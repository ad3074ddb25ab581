// Restricts git to the files it works on. A process that writes to the work tree at the same time could replace a file that
// git has just checked by a link to any file of the machine; inside the fence the target of such a link does not exist.
import { dirname } from "node:path";

export interface Fence {
  /** Absolute directories. Apart from programs, nothing else is visible. */
  reads: string[];
  writes: string[];
}

export interface Command {
  program: string;
  args: string[];
}

/** Unfenced if there is no bubblewrap: agents cannot run commands then, so no other process writes to the work tree. */
export function fencedGit({ program: git, args }: Command, fence: Fence, bubblewrap: string | undefined): Command {
  if (bubblewrap === undefined) return { program: git, args };
  const programs = [...systemDirectories, ...installDirectory(git)];
  const mounts = [
    ...programs.flatMap((directory) => ["--ro-bind-try", directory, directory]),
    ...["--dev", "/dev"],
    ...fence.reads.flatMap((directory) => ["--ro-bind", directory, directory]),
    ...fence.writes.flatMap((directory) => ["--bind", directory, directory]),
  ];
  const [workingDirectory = "/"] = fence.reads;
  const options = ["--unshare-user", "--unshare-ipc", "--die-with-parent", ...mounts, "--chdir", workingDirectory];
  return { program: bubblewrap, args: [...options, "--", git, ...args] };
}

/** System directories with programs and their libraries. */
const systemDirectories = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"],
  "/etc/ld.so.cache",
];

/** The prefix of a git installed elsewhere, which has its own programs next to it: `PREFIX/bin/git`. */
const installDirectory = (git: string): string[] =>
  systemDirectories.some((directory) => git.startsWith(`${directory}/`)) ? [] : [dirname(dirname(git))];
