// Lists a directory in a steady order: by name, each directory right before what is in it.
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ListRequest, ListResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { errnoOf, fileFault, pathFaultOf } from "./fault.ts";

type Entry = Extract<ListResult, { kind: "entries" }>["entries"][number];

export async function listDirectory(scope: FileScope, request: ListRequest): Promise<ListResult> {
  const { path, depth = 1, limit = 500 } = request;
  const top = resolve(scope.root, path);
  const entries: Entry[] = [];
  try {
    for await (const entry of descend(top, await readSorted(top), { prefix: "", depth })) {
      if (entries.length === limit) return { kind: "entries", entries, cut: true };
      entries.push(entry);
    }
    return { kind: "entries", entries, cut: false };
  } catch (error) {
    const fault = errnoOf(error) === "ENOTDIR" ? notADirectory : pathFaultOf(error);
    return fileFault("list", path, fault);
  }
}

async function* descend(
  directory: string,
  children: Dirent[],
  level: { prefix: string; depth: number },
): AsyncGenerator<Entry> {
  for (const child of children) {
    const path = level.prefix + child.name;
    const at = join(directory, child.name);
    yield { path, kind: kindOf(child), size: child.isFile() ? await sizeOf(at) : null };
    if (!child.isDirectory() || level.depth === 1) continue;
    yield* descend(at, await readIfAccessible(at), { prefix: `${path}/`, depth: level.depth - 1 });
  }
}

/** Children by name; `.` and `..` are not among them. */
export async function readSorted(directory: string): Promise<Dirent[]> {
  const children = await readdir(directory, { withFileTypes: true });
  return children.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** A subdirectory that is inaccessible, or was just removed, is listed as empty. */
export async function readIfAccessible(directory: string): Promise<Dirent[]> {
  try {
    return await readSorted(directory);
  } catch (error) {
    if (inaccessibleCodes.has(errnoOf(error))) return [];
    throw error;
  }
}

function kindOf(child: Dirent): Entry["kind"] {
  if (child.isFile()) return "file";
  if (child.isDirectory()) return "directory";
  return child.isSymbolicLink() ? "symlink" : "other";
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await lstat(file)).size;
  } catch (error) {
    if (inaccessibleCodes.has(errnoOf(error))) return null;
    throw error;
  }
}

const inaccessibleCodes = new Set<string | undefined>(["EACCES", "EPERM", "ENOENT", "ENOTDIR"]);
const notADirectory = { code: "not-a-directory", reason: "it is not a directory" } as const;
