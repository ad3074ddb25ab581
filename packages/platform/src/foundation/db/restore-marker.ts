// A marker file in the data directory while a backup is being restored: an interrupted restore must not be served.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseError } from "./database-error.ts";

const markIn = (dataDirectory: string): string => join(dataDirectory, "restoring");

export const markRestore = (dataDirectory: string): void =>
  writeFileSync(markIn(dataDirectory), "A backup is being restored into this directory.\n", { mode: 0o600 });

export const unmarkRestore = (dataDirectory: string): void => rmSync(markIn(dataDirectory), { force: true });

export function refuseHalfRestored(dataDirectory: string): void {
  if (existsSync(markIn(dataDirectory)))
    throw new DatabaseError(
      `The restore into ${dataDirectory} is in progress or was interrupted. If no restore is running, remove the directory, empty the database of DATABASE_URL if one is set, and restore again.`,
    );
}
