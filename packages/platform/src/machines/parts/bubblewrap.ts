// The command line of bubblewrap for a machine: its disk is the root directory, all else is private.
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { TemporaryShares } from "@agentcli/workspace";

export interface InsideOptions {
  /** The command line of bubblewrap, where it starts. */
  bubblewrap: string[];
  /** Where it finds the disk and the tools. */
  view: { root: string; tools: string };
  hostname: string;
  /** "prepared": that of the process that starts bubblewrap, which has been separated from the host's. */
  network: "own" | "prepared";
  /** System paths of the host, shown read-only. */
  hostPaths: string[];
  /** Names below the tools of the machine. */
  tools: string[];
  /** Of the private directories; undefined: the kernel's. */
  sizes: TemporaryShares | undefined;
  seccompDescriptor: number | undefined;
}

/** Where the machine finds the tools of its supervisor. */
export const toolPath = (name: string): string => join("/run/agent", name);

/**
 * What package managers and servers need of root, over the machine's own users only. Not: devices (mknod), raw sockets,
 * network settings, mounts, other processes' memory.
 */
export const capabilities = [
  ...["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "SETFCAP"],
  ...["NET_BIND_SERVICE", "AUDIT_WRITE"],
];

export function bubblewrapCommand(options: InsideOptions, argv: string[]): string[] {
  const { bubblewrap, view, hostname, network, hostPaths, tools, sizes, seccompDescriptor } = options;
  const privateDirectory = (path: string, { mode, bytes }: { mode: string; bytes: number | undefined }) => [
    ...["--perms", mode, ...(bytes === undefined ? [] : ["--size", String(bytes)])],
    ...["--tmpfs", path],
  ];
  return [
    ...bubblewrap,
    ...["--unshare-pid", ...(network === "own" ? ["--unshare-net"] : [])],
    ...["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--hostname", hostname],
    ...["--cap-drop", "ALL", ...capabilities.flatMap((name) => ["--cap-add", `CAP_${name}`])],
    ...["--bind", view.root, "/", "--dev", "/dev", "--proc", "/proc"],
    ...[
      ...privateDirectory("/tmp", { mode: "1777", bytes: sizes?.tmp }),
      ...privateDirectory("/run", { mode: "0755", bytes: sizes?.run }),
      ...privateDirectory("/dev/shm", { mode: "1777", bytes: sizes?.shm }),
    ],
    ...hostPaths.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", realpathSync(path), path]),
    ...["--perms", "0755", "--dir", "/run/agent"],
    ...tools.flatMap((name) => ["--ro-bind", join(view.tools, name), toolPath(name)]),
    // Kernel settings, and the memory of the supervisor.
    ...["--remount-ro", "/proc", "--chdir", "/"],
    ...(seccompDescriptor === undefined ? [] : ["--seccomp", String(seccompDescriptor)]),
    "--",
    ...argv,
  ];
}
