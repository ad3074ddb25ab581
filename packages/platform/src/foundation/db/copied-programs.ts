// A copy of the installed PostgreSQL that other users can run, made once beside the data.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ClusterPaths } from "./cluster-paths.ts";

/** Returns the folder that holds `native`, one for each version of the package. */
export function copyPrograms(native: string, { programDirectory }: ClusterPaths): string {
  const { version } = JSON.parse(readFileSync(join(native, "../package.json"), "utf8"));
  const copy = join(programDirectory, version);
  if (!existsSync(copy)) {
    mkdirSync(programDirectory, { recursive: true });
    chmodSync(programDirectory, 0o755);
    makeCopy(native, copy);
  }
  return copy;
}

/** Made beside its path and moved there: of two processes, the second finds it present. */
function makeCopy(native: string, copy: string): void {
  const draft = `${copy}.${process.pid}.new`;
  try {
    cpSync(native, join(draft, "native"), { recursive: true, verbatimSymlinks: true });
    openToOthers(draft);
    renameSync(draft, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** They may read and run everything, and write nothing. */
function openToOthers(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToOthers(path);
    else if (entry.isFile()) chmodSync(path, 0o755);
  }
}
