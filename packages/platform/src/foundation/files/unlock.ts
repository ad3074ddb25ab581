// Restores the server's permissions on a directory of an agent.
import { chmodSync, lstatSync } from "node:fs";

/**
 * An agent may remove its own permissions on its directory; a server without privileges could not even enter it. The agent
 * cannot replace the directory: its parent belongs to the host.
 */
export function unlockDirectory(directory: string): void {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats?.isDirectory() && (stats.mode & 0o700) !== 0o700) chmodSync(directory, (stats.mode & 0o777) | 0o700);
}
