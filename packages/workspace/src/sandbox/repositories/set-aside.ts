// Renames a `.git` that a run has created, or the HEAD of a bare repository, so that git no longer takes the directory for a repository. Nothing is lost.
import { randomUUID } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readlinkSync, renameSync } from "node:fs";
import { below, type DirectoryPath, type Repository } from "./search.ts";

/** The new name, or null if the directory is not what it was when it was found. */
export function setAside({ directory, entry }: Repository): string | null {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const descriptor = openSync(directory, flags);
  try {
    const opened = pathOf(descriptor, directory);
    if (opened === null) return null;
    const isFree = (name: string) => lstatSync(below(opened, name), { throwIfNoEntry: false }) === undefined;
    const name = namesFor(entry).find(isFree) ?? `${entry}.untrusted.${randomUUID()}`;
    // The run may have taken the permission to do so from its owner.
    fchmodSync(descriptor, (fstatSync(descriptor).mode & 0o777) | 0o700);
    renameSync(below(opened, entry), below(opened, name));
    return name;
  } finally {
    closeSync(descriptor);
  }
}

/** Through the open directory: a process that outlived the sandbox could put a link in the place of one above it. */
function pathOf(descriptor: number, directory: DirectoryPath): DirectoryPath | null {
  if (process.platform !== "linux") return directory;
  const path = `/proc/self/fd/${descriptor}`;
  return readlinkSync(path, "buffer").equals(Buffer.from(directory)) ? path : null;
}

const namesFor = (entry: string) =>
  Array.from({ length: 100 }, (_, index) => `${entry}.untrusted${index === 0 ? "" : `.${index + 1}`}`);
