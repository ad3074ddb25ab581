// Reads objects that are files of their own, of git directories that only the host writes, without running git.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import type { GitLocation } from "./environment.ts";
import { formatOf } from "./layout.ts";

export interface GitObject {
  name: string;
  type: ObjectType;
  content: Buffer;
}

export type ObjectType = "commit" | "tree" | "blob" | "tag";

export const loosePath = ({ directory, objects = join(directory, "objects") }: GitLocation, name: string): string =>
  join(objects, name.slice(0, 2), name.slice(2));

/** Null where it is larger, damaged, in a pack, or in a repository that this one borrows from. Synchronous: they are small. */
export function readLooseObject(location: GitLocation, name: string, maxBytes: number): GitObject | null {
  try {
    const object = inflateSync(readFileSync(loosePath(location, name)), { maxOutputLength: maxBytes });
    const end = object.indexOf(0);
    if (createHash(formatOf(name)).update(object).digest("hex") !== name) return null;
    const [, type] = /^(commit|tree|blob|tag) \d+$/.exec(object.toString("latin1", 0, Math.max(0, end))) ?? [];
    return type === undefined ? null : { name, type: type as ObjectType, content: object.subarray(end + 1) };
  } catch (error) {
    if (/^(?:ENOENT|Z_|ERR_BUFFER_TOO_LARGE)/.test((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

export interface TreeEntry {
  isTree: boolean;
  /** Bytes as latin1 characters. */
  name: string;
  object: string;
}

/** Without the commits of submodules, which are objects of other repositories. */
export function entriesOf({ name, content }: GitObject): TreeEntry[] {
  const hashBytes = name.length / 2;
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    const mode = content.toString("latin1", at, space);
    at = end + 1 + hashBytes;
    const object = content.toString("hex", end + 1, at);
    if (mode !== "160000")
      entries.push({ isTree: mode === "40000", name: content.toString("latin1", space + 1, end), object });
  }
  return entries;
}
