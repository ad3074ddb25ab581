// PostgreSQL refuses to run as root. As root it runs in a user namespace that maps root to another user, else as another user.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, type ProgramSearch } from "@agentcli/workspace";
import { type Binaries, findBinaries, nativeFolder } from "./binaries.ts";
import type { ClusterPaths } from "./cluster-paths.ts";
import { copyPrograms } from "./copied-programs.ts";
import { DatabaseError } from "./database-error.ts";

/** What stands in front of a program's name, and whose process it is. */
export interface RunAsUser {
  prefix: string[];
  identity: Identity | null;
}

const unprivilegedId = 65534;
const mapFlags = ["-U", `--map-user=${unprivilegedId}`, `--map-group=${unprivilegedId}`];

export interface ChosenUser {
  user: RunAsUser;
  /** As that user can run them. */
  binaries: Binaries;
}

export function chooseUser(paths: ClusterPaths, path: string, native = nativeFolder()): ChosenUser {
  const binaries = findBinaries(paths.linkDirectory, native);
  if (process.getuid?.() !== 0) return { user: { prefix: [], identity: null }, binaries };
  const prefix = mappingPrefix(binaries, { path, untrusted: [paths.dataDirectory] });
  if (prefix !== null) return { user: { prefix, identity: null }, binaries };
  const identity = otherUser();
  // Others may walk through the data directory, and see nothing of what is in it.
  chmodSync(paths.dataDirectory, 0o711);
  if (!canEnter(identity, paths)) throw refused(paths);
  return {
    user: { prefix: [], identity },
    binaries: canRun(identity, binaries) ? binaries : copyBinaries(identity, native, paths),
  };
}

/** Null where user namespaces cannot be used. */
function mappingPrefix(binaries: Binaries, search: ProgramSearch): string[] | null {
  const unshare = findProgram("unshare", search);
  if (unshare === undefined) return null;
  const tried = spawnSync(unshare, [...mapFlags, binaries.postgres, "--version"], {
    env: { PATH: search.path, ...libraries(binaries) },
  });
  return tried.status === 0 ? [unshare, ...mapFlags] : null;
}

export const libraries = ({ libraryPath }: Binaries): NodeJS.ProcessEnv =>
  libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {};

/** The user that the system's own PostgreSQL has, where there is one: it owns nothing else. */
function otherUser(): Identity {
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  return entry ? { uid: Number(entry[1]), gid: Number(entry[2]) } : { uid: unprivilegedId, gid: unprivilegedId };
}

type Identity = { uid: number; gid: number };

/** A clone below a private directory is closed to other users: they get a copy of the programs beside the data. */
function copyBinaries(identity: Identity, native: string, paths: ClusterPaths): Binaries {
  const copy = copyPrograms(native, paths);
  const copied = findBinaries(join(copy, "libraries"), join(copy, "native"));
  if (canRun(identity, copied)) return copied;
  throw refused(paths);
}

function canRun(identity: Identity, binaries: Binaries): boolean {
  return spawnSync(binaries.postgres, ["--version"], { ...identity, cwd: "/", env: libraries(binaries) }).status === 0;
}

function canEnter(identity: Identity, { dataDirectory }: ClusterPaths): boolean {
  const options = { ...identity, cwd: "/", env: {} };
  return spawnSync("/bin/sh", ["-c", 'test -x "$1"', "sh", dataDirectory], options).status === 0;
}

/** Gives a path to the user that the server runs as. */
export function handOver(path: string, { identity }: RunAsUser): void {
  if (identity) chownSync(path, identity.uid, identity.gid);
}

const refused = ({ dataDirectory }: ClusterPaths): DatabaseError =>
  new DatabaseError(
    `The embedded PostgreSQL does not run as root: user namespaces are not allowed here (unshare -U), and another user cannot reach ${dataDirectory} or run programs there. Run the platform as an ordinary user, or set DATABASE_URL to a PostgreSQL server.`,
  );
