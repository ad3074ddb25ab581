// The platform that `npm start` of a clone has started for this user, as it describes itself in its data directory.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface LocalPlatform {
  url: string;
  key: string;
  /** The sample repository. */
  repository: string;
}

/** Null if there is none, or if another user could have written or read the file. Does not block on a FIFO. */
export function findLocalPlatform({ PLATFORM_DATA, HOME }: NodeJS.ProcessEnv): LocalPlatform | null {
  const path = join(PLATFORM_DATA || join(HOME || homedir(), ".platform"), "local.json");
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      const isOwn = (process.getuid?.() ?? stats.uid) === stats.uid && (stats.mode & 0o077) === 0;
      return isOwn && stats.isFile() ? readDescription(readFileSync(file, "utf8")) : null;
    } finally {
      closeSync(file);
    }
  } catch {
    // Not there, or not readable: as if there were none.
    return null;
  }
}

function readDescription(text: string): LocalPlatform | null {
  const { url, key, repository } = JSON.parse(text) as Record<string, unknown>;
  if (typeof url !== "string" || typeof key !== "string" || typeof repository !== "string") return null;
  return { url, key, repository };
}
