// What git is told on the host: no hooks, no helpers, nobody's configuration but ours, one protocol at most. Pure.
import type { Fence } from "./fence.ts";
import type { GitRemote } from "./remote.ts";

/** Where git works. Whatever an agent could have written must be no more than a work tree or borrowed objects. */
export interface GitPlace {
  directory: string;
  workTree?: string;
  indexFile?: string;
  /** Directories of objects to read from beside its own. */
  borrowed?: string[];
  /** Where objects are written to, and read from, in place of its own. */
  objects?: string;
  /** For a work tree that somebody else may be writing to. The first that is read is the work tree. */
  fence?: Fence;
}

/** For what needs no repository, such as asking another one. */
export const nowhere: GitPlace = { directory: "/nonexistent" };

export interface GitSurroundings {
  place: GitPlace;
  remote: GitRemote | undefined;
  variables: Record<string, string>;
  /** Where git itself is looked for. */
  path: string;
}

export function gitEnvironment({ place, remote, variables, path }: GitSurroundings): Record<string, string> {
  const entries = [...neutral, ...(remote?.config ?? [])];
  return {
    PATH: path,
    LC_ALL: "C",
    // Git, ssh and curl would read more from there.
    HOME: "/nonexistent",
    GIT_DIR: place.directory,
    ...(place.workTree !== undefined && { GIT_WORK_TREE: place.workTree }),
    ...(place.indexFile !== undefined && { GIT_INDEX_FILE: place.indexFile }),
    ...(place.borrowed !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: place.borrowed.map(quoted).join(":") }),
    ...(place.objects !== undefined && { GIT_OBJECT_DIRECTORY: place.objects }),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_ALLOW_PROTOCOL: remote?.protocol ?? "none",
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(entries.flatMap(([key, value], index) => configPair(key, value, index))),
    ...remote?.variables,
    ...variables,
  };
}

/** Paths are separated by colons, and may have some. */
const quoted = (path: string) => `"${path.replace(/[\\"]/g, "\\$&")}"`;

const configPair = (key: string, value: string, index: number) => [
  [`GIT_CONFIG_KEY_${index}`, key],
  [`GIT_CONFIG_VALUE_${index}`, value],
];

/** Programs that a repository may name do not run; nothing goes on in the background; nothing is logged beside. */
const neutral: [string, string][] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  // Summaries of objects that whoever wrote the objects could have written too.
  ["core.commitGraph", "false"],
  ["core.multiPackIndex", "false"],
  ["core.logAllRefUpdates", "false"],
  ["core.alternateRefsCommand", ":"],
  ["core.quotePath", "false"],
  ["credential.helper", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["protocol.version", "2"],
  ["transfer.fsckObjects", "false"],
  ["fetch.writeCommitGraph", "false"],
  // What comes stays one pack, which is copied faster than many files.
  ["fetch.unpackLimit", "1"],
  // A redirection could lead to an address that was never checked.
  ["http.followRedirects", "false"],
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "30"],
  ["http.userAgent", "platform-git/1.0"],
];
