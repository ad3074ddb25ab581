// Renames a `.git` that a run has created, or the HEAD of a bare repository, so that git no longer takes the directory for a repository. Nothing is lost.
import { randomUUID } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readlinkSync, renameSync } from "node:fs";
import { below, type DirectoryPath, type Repository } from "./search.ts";

/**
 * The new names, or null if the directory is not what it was when it was found. What was `.git` would be a bare repository
 * under its new name, so HEAD in it is renamed too.
 */
export function setAside(repository: Repository): string[] | null {
  const name = renameEntry(repository);
  if (name === null || repository.entry !== ".git") return name === null ? null : [name];
  const directory = below(repository.directory, name);
  const isBare =
    lstatSync(directory).isDirectory() && lstatSync(below(directory, "HEAD"), { throwIfNoEntry: false }) !== undefined;
  const inner = isBare ? renameEntry({ directory, entry: "HEAD" }) : null;
  return inner === null ? [name] : [name, inner];
}

function renameEntry({ directory, entry }: Repository): string | null {
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

/** Null if the directory is another one by now. Through the open directory: a process that outlived the sandbox could put a link in the place of one above it. */
export function pathOf(descriptor: number, directory: DirectoryPath): DirectoryPath | null {
  if (process.platform !== "linux") return directory;
  const path = `/proc/self/fd/${descriptor}`;
  return readlinkSync(path, "buffer").equals(Buffer.from(directory)) ? path : null;
}

const namesFor = (entry: string) =>
  Array.from({ length: 100 }, (_, index) => `${entry}.untrusted${index === 0 ? "" : `.${index + 1}`}`);
