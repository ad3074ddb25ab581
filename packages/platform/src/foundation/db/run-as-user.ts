// PostgreSQL refuses to run as root. As root it runs in a user namespace that maps root to another user, else as another user.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync } from "node:fs";
import type { Binaries } from "./binaries.ts";
import type { ClusterPaths } from "./cluster-paths.ts";
import { DatabaseError } from "./database-error.ts";

/** What stands in front of a program's name, and whose process it is. */
export interface RunAsUser {
  prefix: string[];
  identity: { uid: number; gid: number } | null;
}

const unprivilegedId = 65534;
const mapped = ["unshare", "-U", `--map-user=${unprivilegedId}`, `--map-group=${unprivilegedId}`];

export function chooseUser(paths: ClusterPaths, binaries: Binaries, path: string): RunAsUser {
  if (process.getuid?.() !== 0) return { prefix: [], identity: null };
  const [unshare = "", ...flags] = mapped;
  const tried = spawnSync(unshare, [...flags, binaries.postgres, "--version"], {
    env: { PATH: path, ...libraries(binaries) },
  });
  if (tried.status === 0) return { prefix: mapped, identity: null };
  const identity = otherUser();
  if (!canReach(identity, paths, binaries)) throw refused(paths);
  return { prefix: [], identity };
}

export const libraries = ({ libraryPath }: Binaries): NodeJS.ProcessEnv =>
  libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {};

/** The user that the system's own PostgreSQL has, where there is one: it owns nothing else. */
function otherUser(): { uid: number; gid: number } {
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  return entry ? { uid: Number(entry[1]), gid: Number(entry[2]) } : { uid: unprivilegedId, gid: unprivilegedId };
}

function canReach(identity: { uid: number; gid: number }, paths: ClusterPaths, binaries: Binaries): boolean {
  // Others may walk through the data directory, and see nothing of what is in it.
  chmodSync(paths.dataDirectory, 0o711);
  const programs = spawnSync(binaries.postgres, ["--version"], { ...identity, env: libraries(binaries) });
  const directory = spawnSync("/bin/sh", ["-c", 'test -x "$1"', "sh", paths.dataDirectory], { ...identity, env: {} });
  return programs.status === 0 && directory.status === 0;
}

/** Gives a path to the user that the server runs as. */
export function handOver(path: string, { identity }: RunAsUser): void {
  if (identity) chownSync(path, identity.uid, identity.gid);
}

const refused = ({ dataDirectory }: ClusterPaths): DatabaseError =>
  new DatabaseError(
    `The embedded PostgreSQL does not run as root: user namespaces are not allowed here (unshare -U), and another user cannot reach ${dataDirectory} or the installed programs. Run the platform as an ordinary user, or set DATABASE_URL to a PostgreSQL server.`,
  );
