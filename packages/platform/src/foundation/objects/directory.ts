// An object store in a directory, which several servers may share: each object is a file named by its key.
import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { pathTo, removeTree, type TreeEntry, walk } from "../files/index.ts";
import {
  assertKey,
  type Content,
  type ObjectContent,
  type ObjectEntry,
  ObjectExists,
  type ObjectStore,
  type PutOptions,
  piecesOf,
  type StoredObject,
} from "./object-store.ts";

export function openDirectoryStore(directory: string): ObjectStore {
  const root = resolve(directory);
  const pathOf = (key: string): string => {
    assertKey(key);
    return join(root, ...key.split("/"));
  };
  return {
    description: `directory ${root}`,
    put: (key, content, options = {}) => putFile({ key, path: pathOf(key) }, content, options),
    get: (key) => openFile(pathOf(key)),
    list: (prefix) => listFiles(root, prefix),
    async remove(keys) {
      await Promise.all(keys.map((key) => rm(pathOf(key), { force: true })));
      for (const parent of new Set(keys.map((key) => dirname(pathOf(key))))) await removeEmpty(parent, root);
    },
    async removeAll(directoryKey) {
      await removeTree(pathOf(directoryKey));
      await removeEmpty(dirname(pathOf(directoryKey)), root);
    },
    sign: async () => null,
  };
}

interface Target {
  key: string;
  path: string;
}

/** Beside the final name of an object while it is written. */
const draftMark = ".draft-";
const staleAfterMs = 24 * 3_600_000;

/** Written under another name first, so that a reader never sees a part of it. */
async function putFile({ key, path }: Target, content: Content, options: PutOptions): Promise<StoredObject> {
  const draft = join(dirname(path), `${draftMark}${randomUUID()}`);
  try {
    const stored = await writeDraft(draft, content, options.signal);
    if (options.onlyIfAbsent) await link(draft, path);
    else await rename(draft, path);
    return stored;
  } catch (error) {
    if (options.onlyIfAbsent && isCode(error, "EEXIST")) throw new ObjectExists(key);
    throw error;
  } finally {
    // Part of one would take the space that others need.
    await rm(draft, { force: true });
  }
}

async function writeDraft(draft: string, content: Content, signal: AbortSignal | undefined): Promise<StoredObject> {
  const file = await createFile(draft);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  try {
    for await (const piece of piecesOf(content)) {
      signal?.throwIfAborted();
      hash.update(piece);
      sizeBytes += piece.length;
      await writePiece(file, piece);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

const maxAttempts = 5;

/** Another process may remove the directory meanwhile, because it was empty. */
async function createFile(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return await open(path, "wx", 0o600);
    } catch (error) {
      if (attempt === maxAttempts || !isCode(error, "ENOENT")) throw error;
    }
  }
}

/** A directory without objects, and those above it up to the root. */
async function removeEmpty(directory: string, root: string): Promise<void> {
  for (let at = directory; at !== root; at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

async function writePiece(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

async function openFile(path: string): Promise<ObjectContent | null> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (isCode(error, "ENOENT") || isCode(error, "ENOTDIR")) return null;
    throw error;
  });
  if (file === null) return null;
  const { size: sizeBytes } = await file.stat();
  return { sizeBytes, stream: file.createReadStream() };
}

async function* listFiles(root: string, prefix: string): AsyncGenerator<ObjectEntry> {
  // Only the directories that the prefix names are read.
  const parent = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  if (parent !== "") assertKey(parent.slice(0, -1));
  const order = (names: Buffer[]) => names.sort(Buffer.compare);
  const found: ObjectEntry[] = [];
  for await (const { kind, entry } of walk(join(root, parent), { access: "read", order })) {
    if (kind !== "entry" || !entry.stats.isFile()) continue;
    const key = parent + pathTo(entry).toString().replaceAll(sep, "/");
    if (entry.name.toString().startsWith(draftMark)) await removeStale(entry);
    else if (key.startsWith(prefix)) found.push({ key, sizeBytes: entry.stats.size, modifiedAt: entry.stats.mtime });
  }
  yield* found.sort((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key)));
}

/** What a killed server left. */
async function removeStale({ address, stats }: TreeEntry): Promise<void> {
  if (stats.ctimeMs < Date.now() - staleAfterMs) await rm(address.toString(), { force: true });
}

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

/** Whether the directory can be used; throws what the system says where it cannot. */
export async function checkDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!(await lstat(directory)).isDirectory()) throw new Error(`${directory} is not a directory.`);
}
