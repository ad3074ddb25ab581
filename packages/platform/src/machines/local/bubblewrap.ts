// The command line of bubblewrap for a machine: its disk is the root directory, all else is private.
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { view } from "./setup.ts";

export interface InsideOptions {
  bubblewrap: string;
  hostname: string;
  /** System paths of the host, shown read-only. */
  hostPaths: string[];
  /** Names below the tools of the machine. */
  tools: string[];
  temporaryBytes: number | null;
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
  const { bubblewrap, hostname, hostPaths, tools, temporaryBytes, seccompDescriptor } = options;
  const privateDirectory = (path: string, mode: string) => [
    ...["--perms", mode, ...(temporaryBytes === null ? [] : ["--size", String(temporaryBytes)])],
    ...["--tmpfs", path],
  ];
  return [
    bubblewrap,
    ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--hostname", hostname],
    ...["--cap-drop", "ALL", ...capabilities.flatMap((name) => ["--cap-add", `CAP_${name}`])],
    ...["--bind", view.root, "/", "--dev", "/dev", "--proc", "/proc"],
    ...[
      ...privateDirectory("/tmp", "1777"),
      ...privateDirectory("/run", "0755"),
      ...privateDirectory("/dev/shm", "1777"),
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
