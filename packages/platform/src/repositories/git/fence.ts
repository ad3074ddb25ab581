// Restricts git to the files it works on. A process that writes to the work tree at the same time could replace a file that
// git has just checked by a link to any file of the machine; inside the fence the target of such a link does not exist.
import { readFileSync } from "node:fs";
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

export interface FenceOptions {
  fence: Fence;
  /** Whose directories the command sees. */
  git: string;
  bubblewrap: string | undefined;
}

/** Unfenced if there is no bubblewrap: agents cannot run commands then, so no other process writes to the work tree. */
export function fenced({ program, args }: Command, { fence, git, bubblewrap }: FenceOptions): Command {
  if (bubblewrap === undefined) return { program, args };
  const programs = [...systemDirectories, ...installDirectory(git)];
  const mounts = [
    ...programs.flatMap((directory) => ["--ro-bind-try", directory, directory]),
    ...["--dev", "/dev"],
    ...fence.reads.flatMap((directory) => ["--ro-bind", directory, directory]),
    ...fence.writes.flatMap((directory) => ["--bind", directory, directory]),
  ];
  const [workingDirectory = "/"] = fence.reads;
  const options = [...rights(), "--unshare-ipc", "--die-with-parent", ...mounts, "--chdir", workingDirectory];
  return { program: bubblewrap, args: [...options, "--", program, ...args] };
}

/** Files of agents belong to users of their own; in a user namespace root could not read them. */
const rights = (): string[] =>
  process.geteuid?.() === 0 && canMount()
    ? ["--cap-drop", "ALL", ...["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH"].flatMap((name) => ["--cap-add", name])]
    : ["--unshare-user"];

/** CAP_SYS_ADMIN, which root lacks in many containers. */
function canMount(): boolean {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> 21n) & 1n) === 1n;
}

/** System directories with programs and their libraries. */
const systemDirectories = [
  ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/ld.so.cache"],
  ...["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share"].map((name) => `/usr/${name}`),
  ...["bin", "lib", "lib64", "libexec", "share"].map((name) => `/usr/local/${name}`),
];

/** The prefix of a git installed elsewhere, which has its own programs next to it: `PREFIX/bin/git`. */
const installDirectory = (git: string): string[] =>
  systemDirectories.some((directory) => git.startsWith(`${directory}/`)) ? [] : [dirname(dirname(git))];
