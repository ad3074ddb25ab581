// Where the embedded PostgreSQL of a data directory keeps its files and its socket.
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseError } from "./database-error.ts";

export interface ClusterPaths {
  dataDirectory: string;
  /** The cluster itself. */
  cluster: string;
  /** A unix socket's path ends at 107 bytes, so this is a short hash in the runtime directory. */
  socketDirectory: string;
  passwordFile: string;
  logFile: string;
  /** For links to libraries, where they are missing. */
  linkDirectory: string;
  /** For a copy of the programs, where the user that runs them cannot reach the installed ones. */
  programDirectory: string;
}

export interface ClusterEnvironment {
  /** Of these only PATH, XDG_RUNTIME_DIR and TMPDIR are looked at. */
  variables: NodeJS.ProcessEnv;
}

export function clusterPaths(dataDirectory: string, { variables }: ClusterEnvironment): ClusterPaths {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const real = realpathSync(dataDirectory);
  return {
    dataDirectory: real,
    cluster: join(real, "postgres"),
    socketDirectory: socketDirectory(real, variables.XDG_RUNTIME_DIR),
    passwordFile: join(real, "postgres-password"),
    logFile: join(real, "postgres.log"),
    linkDirectory: join(real, "postgres-libraries"),
    programDirectory: join(real, "postgres-programs"),
  };
}

const maxSocketPathLength = 107;

function socketDirectory(dataDirectory: string, runtimeDirectory: string | undefined): string {
  const hash = createHash("sha256").update(dataDirectory).digest("hex").slice(0, 12);
  const parents = [...(runtimeDirectory ? [runtimeDirectory] : []), tmpdir(), "/tmp"].filter(isDirectory);
  const fitting = parents
    .map((parent) => join(parent, `platform-${hash}`))
    .find((path) => join(path, socketName).length <= maxSocketPathLength);
  if (fitting) return fitting;
  throw new DatabaseError(
    "There is no directory for the socket of the embedded PostgreSQL: XDG_RUNTIME_DIR, TMPDIR and /tmp are missing or too long. Set DATABASE_URL to a PostgreSQL server instead.",
  );
}

export const socketPort = 5432;
export const socketName = `.s.PGSQL.${socketPort}`;

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A directory of another user there is refused: its owner could pose as the server. */
export function makeSocketDirectory({ socketDirectory: path }: ClusterPaths, owner: number | null): void {
  try {
    // Not recursive: its parent is there, and where nothing can be made Node then asks for ever, or gives another reason.
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw new DatabaseError(
        `The socket of the embedded PostgreSQL has no directory: ${(error as Error).message}. Let the user of the server write to the directory above it, in a systemd unit by ReadWritePaths, or set DATABASE_URL to a PostgreSQL server.`,
      );
  }
  const { uid } = lstatSync(path);
  const ours = process.getuid?.();
  if (!isDirectory(path) || (ours !== undefined && uid !== ours && uid !== owner))
    throw new DatabaseError(
      `${path} belongs to another user, so the socket of the embedded PostgreSQL cannot be there. Remove it, or set DATABASE_URL to a PostgreSQL server.`,
    );
  chmodSync(path, 0o700);
}

/** Once its server has stopped; one that is just being started makes it again. */
export function removeSocketDirectory({ socketDirectory: path }: ClusterPaths): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** The same for all processes, also for two that create it at once. */
export function readPassword({ passwordFile }: ClusterPaths): string {
  const draft = `${passwordFile}.${process.pid}`;
  try {
    return readFileSync(passwordFile, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  try {
    writeFileSync(draft, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600, flush: true });
    linkSync(draft, passwordFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(passwordFile, "utf8").trim();
}
