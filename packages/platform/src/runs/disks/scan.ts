// Reads the files of an agent, which its processes may change meanwhile: no link is followed, and a file whose size or
// times are as they were is not read again.
import { type FileHandle, readlink } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { openFile, pathTo, type TreeEntry, walk } from "../../foundation/index.ts";

/** Of one agent on this server. */
export interface DiskRoots {
  /** The directory that the agent sees. */
  workspace: string;
  /** The host's git directories. */
  host: string;
}

export interface DiskEntry {
  /** Begins with `workspace/` or `host/`; names as latin1, because they need not be text. */
  path: string;
  kind: "file" | "directory" | "link";
  mode: number;
  mtimeMs: number;
  /** Of a link. */
  target?: string;
  /** Where the content of a file is. */
  pack?: string;
  offset?: number;
  sizeBytes?: number;
  /** Identifies the content on this server; empty where the file may have been changed since it was read. */
  seen?: string;
}

export interface Scan {
  entries: DiskEntry[];
  /** Whether anything differs from the entries before. */
  isChanged: boolean;
}

export interface ScanOptions {
  roots: DiskRoots;
  former: Map<string, DiskEntry>;
  /** Name of the pack that new contents go to. */
  pack: string;
  maxEntries?: number;
}

/** Of files, directories and links: a scan looks at each of them before each step is settled, 40 µs each. */
const usualMaxEntries = 100_000;

export class TooManyFiles extends Error {
  override name = "TooManyFiles";
}

/** Yields the contents that are new; what it found is in `scan` once it has ended. Throws TooManyFiles. */
export async function* scanDisk(options: ScanOptions, scan: Scan): AsyncGenerator<Buffer> {
  const { roots, former, pack, maxEntries = usualMaxEntries } = options;
  const startedAt = Date.now();
  let offset = 0;
  for (const [name, root] of Object.entries(roots)) {
    for await (const visit of walk(root, { access: "read" })) {
      if (visit.kind !== "entry") continue;
      const { entry } = visit;
      const path = `${name}/${pathTo(entry).toString("latin1")}`;
      if (isLeftOut(path)) {
        visit.descend = false;
        continue;
      }
      const found = await describe(entry, path);
      if (found === null) continue;
      if (scan.entries.length >= maxEntries) throw new TooManyFiles(`more than ${maxEntries} files and directories`);
      const before = former.get(path);
      scan.isChanged ||= !isSame(found, before);
      if (found.kind !== "file") scan.entries.push(found);
      else if (before?.seen && before.seen === found.seen) scan.entries.push({ ...before, mode: found.mode });
      else {
        const start = offset;
        for await (const piece of readFile(entry)) {
          offset += piece.length;
          yield piece;
        }
        const isSettled = entry.stats.ctimeMs < startedAt - clockStepMs;
        const seen = isSettled ? (found.seen ?? "") : "";
        scan.entries.push({ ...found, pack, offset: start, sizeBytes: offset - start, seen });
      }
    }
  }
  scan.isChanged ||= scan.entries.length !== former.size;
}

/** Entries that were just restored, as a later scan recognises them: what it finds unchanged is not stored again. */
export async function identifyFiles(roots: DiskRoots, entries: DiskEntry[]): Promise<DiskEntry[]> {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  // So that the times of the restored files are no longer the present one.
  await pause(clockStepMs);
  const startedAt = Date.now();
  for (const [name, root] of Object.entries(roots))
    for await (const visit of walk(root, { access: "read" })) {
      if (visit.kind !== "entry") continue;
      const path = `${name}/${pathTo(visit.entry).toString("latin1")}`;
      const entry = byPath.get(path);
      const found = entry?.kind === "file" ? await describe(visit.entry, path) : null;
      const isSettled = visit.entry.stats.ctimeMs < startedAt;
      if (entry && found?.seen && isSettled) byPath.set(path, { ...entry, seen: found.seen });
    }
  return [...byPath.values()];
}

/** Kernels note times in steps: a write shortly after the look may leave the same time. */
const clockStepMs = 50;

/** Unfinished directories, and what names a directory of this server. */
const isLeftOut = (path: string): boolean =>
  /^workspace\/\.draft-|^host\/[^/]*\.draft-|^host\/[^/]+\/objects\/info\/alternates$|^host\/.*\.lock$/.test(path);

const isSame = (found: DiskEntry, before: DiskEntry | undefined): boolean =>
  before !== undefined &&
  before.kind === found.kind &&
  before.mode === found.mode &&
  before.target === found.target &&
  (found.kind !== "file" || (before.seen !== "" && before.seen === found.seen));

/** Null for sockets, devices and the like. */
async function describe({ stats, address }: TreeEntry, path: string): Promise<DiskEntry | null> {
  const common = { path, mode: stats.mode & 0o777, mtimeMs: stats.mtimeMs };
  if (stats.isDirectory()) return { ...common, kind: "directory" };
  if (stats.isSymbolicLink()) {
    const target = await readlink(address, { encoding: "buffer" }).catch(() => null);
    return target && { ...common, kind: "link", target: target.toString("latin1") };
  }
  const { ino, size, mtimeMs, ctimeMs } = stats;
  return stats.isFile() ? { ...common, kind: "file", seen: `${ino}.${size}.${mtimeMs}.${ctimeMs}` } : null;
}

const pieceBytes = 256 * 1024;

/** Empty if it was removed or replaced meanwhile. */
async function* readFile(entry: TreeEntry): AsyncGenerator<Buffer> {
  const file: FileHandle | null = await openFile(entry);
  if (file === null) return;
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
