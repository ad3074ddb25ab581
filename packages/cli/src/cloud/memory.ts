// What stands at some paths of a working tree, so that it can be put back.
import { chmod, lstat, mkdir, readFile, readlink, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";

type Entry =
  | { kind: "nothing" }
  | { kind: "directory" }
  | { kind: "link"; target: Buffer }
  | { kind: "file"; content: Buffer; mode: number };

export interface Memory {
  putBack(): Promise<void>;
}

/** Paths below the root, byte for byte as latin1. */
export async function rememberPaths(root: string, paths: string[]): Promise<Memory> {
  const all = [...new Set(paths.flatMap(withFolders))].sort();
  const before = new Map<string, Entry>();
  for (const path of all) before.set(path, await entryAt(pathOf(root, path)));
  return {
    async putBack() {
      const changed: string[] = [];
      for (const path of all)
        if (!isDeepStrictEqual(await entryAt(pathOf(root, path)), before.get(path))) changed.push(path);
      for (const path of [...changed].reverse()) await clear(pathOf(root, path));
      for (const path of changed) await put(pathOf(root, path), before.get(path) ?? { kind: "nothing" });
    },
  };
}

/** The path, and each folder on the way to it. */
function withFolders(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

const pathOf = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);

async function entryAt(path: Buffer): Promise<Entry> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (found === null) return { kind: "nothing" };
  if (found.isDirectory()) return { kind: "directory" };
  if (found.isSymbolicLink()) return { kind: "link", target: await readlink(path, "buffer") };
  return { kind: "file", content: await readFile(path), mode: found.mode & 0o7777 };
}

/** A folder that holds something else stays. */
async function clear(path: Buffer): Promise<void> {
  const { kind } = await entryAt(path);
  if (kind === "nothing") return;
  if (kind !== "directory") return unlink(path);
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
}

async function put(path: Buffer, entry: Entry): Promise<void> {
  switch (entry.kind) {
    case "nothing":
      return;
    case "directory":
      await mkdir(path, { recursive: true });
      return;
    case "link":
      return symlink(entry.target, path);
    case "file":
      await writeFile(path, entry.content);
      return chmod(path, entry.mode);
  }
}
