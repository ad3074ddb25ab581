// The environment git runs with on the host: no hooks, no helpers, only the platform's configuration, at most one protocol. Pure.
import type { Fence } from "./fence.ts";
import type { GitRemote } from "./remote.ts";

/** The directories git works on. A directory an agent can write to may only be a work tree or a source of borrowed objects. */
export interface GitLocation {
  directory: string;
  workTree?: string;
  indexFile?: string;
  /** Additional object directories to read from (alternates). */
  borrowed?: string[];
  /** Object directory that replaces the repository's own for reading and writing. */
  objects?: string;
  /** Required when another process may write to the work tree. The first entry of `reads` is the work tree. */
  fence?: Fence;
}

/** For commands that need no local repository, such as `ls-remote`. */
export const nowhere: GitLocation = { directory: "/nonexistent" };

export interface GitEnvironmentOptions {
  location: GitLocation;
  remote: GitRemote | undefined;
  variables: Record<string, string>;
  /** Search path for the git executable. */
  path: string;
}

export function gitEnvironment({ location, remote, variables, path }: GitEnvironmentOptions): Record<string, string> {
  const entries = [...neutral, ...(remote?.config ?? [])];
  return {
    PATH: path,
    LC_ALL: "C",
    // Git, ssh and curl read configuration from the home directory.
    HOME: "/nonexistent",
    GIT_DIR: location.directory,
    ...(location.workTree !== undefined && { GIT_WORK_TREE: location.workTree }),
    ...(location.indexFile !== undefined && { GIT_INDEX_FILE: location.indexFile }),
    ...(location.borrowed !== undefined && {
      GIT_ALTERNATE_OBJECT_DIRECTORIES: location.borrowed.map(quotePath).join(":"),
    }),
    ...(location.objects !== undefined && { GIT_OBJECT_DIRECTORY: location.objects }),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    GIT_NO_LAZY_FETCH: "1",
    // A tree of a few megabytes could unpack to all of the memory.
    GIT_ALLOC_LIMIT: "1g",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_ALLOW_PROTOCOL: remote?.protocol ?? "none",
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(entries.flatMap(([key, value], index) => configPair(key, value, index))),
    ...remote?.variables,
    ...variables,
  };
}

/** Paths are separated by colons and may contain colons themselves. */
const quotePath = (path: string) => `"${path.replace(/[\\"]/g, "\\$&")}"`;

const configPair = (key: string, value: string, index: number) => [
  [`GIT_CONFIG_KEY_${index}`, key],
  [`GIT_CONFIG_VALUE_${index}`, value],
];

/** Disables programs a repository can configure, background maintenance and reflogs. */
const neutral: [string, string][] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  // Caches of object data. An attacker who can write objects can forge these too.
  ["core.commitGraph", "false"],
  ["core.multiPackIndex", "false"],
  ["core.logAllRefUpdates", "false"],
  // Lists no references of alternates. Not ":": git starts a single word without a shell, and tells who pushes that it cannot.
  ["core.alternateRefsCommand", "true"],
  ["core.quotePath", "false"],
  // Larger files are read piece by piece: small ones could unpack to any size.
  ["core.bigFileThreshold", "32m"],
  ["credential.helper", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["protocol.version", "2"],
  ["transfer.fsckObjects", "false"],
  ["fetch.writeCommitGraph", "false"],
  // Keep fetched objects in one pack: it copies faster than many loose files.
  ["fetch.unpackLimit", "1"],
  // A redirect could lead to an address that was not validated.
  ["http.followRedirects", "false"],
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "30"],
  ["http.userAgent", "platform-git/1.0"],
];
