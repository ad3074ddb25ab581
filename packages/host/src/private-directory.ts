// Creates a directory that only its owner can enter, with missing parent directories.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Not Node's recursive mode: in a file system without mkdir, such as /proc, it retries forever. */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makePrivateDirectory(dirname(path));
    makePrivateDirectory(path);
  }
}
