// The mounted disk of a machine, as the root directory of a sandbox. Pure.

import type { OpenedLimits } from "../limits/index.ts";
import { contains } from "../paths.ts";

export interface MachineDisk {
  /** Its root directory, where bubblewrap finds it. */
  root: string;
  /** What is shown read-only on top of it: programs of the host, and those of the server. */
  shown: { path: string; source: string }[];
  /** Directories of the host, and where bubblewrap finds them: it is root of the machine only, and cannot enter all of them. */
  sources: { directory: string; path: string }[];
  /** Directories of its disk that are shown inside directories of the host; `path` is inside. One that is gone is left out. */
  kept: { path: string; source: string }[];
  /** "transparent": programs reach hosts without knowing of the proxy; its network can be prepared where the disk is mounted. */
  egress: "transparent" | "proxy-env";
  /** What root inside keeps. */
  capabilities: string[];
  setIdFiles: "allowed" | "refused";
  /** The command line of the server, inside. */
  server: { argv: string[]; terminalModule: string | undefined };
  /** The size of /tmp and other private directories of each sandbox; null: half of the memory. */
  temporaryBytes: number | null;
  /** Of the machine: all its sandboxes share them. */
  limits: OpenedLimits;
  /** Wraps bubblewrap so that it starts where the disk is mounted. */
  enter(program: string, argv: string[]): { program: string; argv: string[] };
}

/** Where bubblewrap finds a path of the host. */
export function sourceIn({ sources }: Pick<MachineDisk, "sources">, path: string): string {
  const source = sources.find(({ directory }) => contains(directory, path));
  return source ? source.path + path.slice(source.directory.length) : path;
}
