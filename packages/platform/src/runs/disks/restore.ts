// Writes a saved disk into empty directories.
import { chmod, type FileHandle, mkdir, open, symlink, utimes } from "node:fs/promises";
import type { SavedDisks } from "./saved-disk.ts";
import type { DiskEntry, DiskRoots } from "./scan.ts";

/** The parents of the roots exist, the roots do not. */
export async function restoreDisk(saved: SavedDisks, entries: DiskEntry[], roots: DiskRoots): Promise<void> {
  const pathOf = pathIn(roots);
  for (const root of Object.values(roots)) await mkdir(root, { mode: 0o700 });
  for (const entry of entries) {
    if (entry.kind === "directory") await mkdir(pathOf(entry), { mode: 0o700 });
    if (entry.kind === "link") await symlink(Buffer.from(entry.target ?? "", "latin1"), pathOf(entry));
  }
  const files = entries.filter(({ kind }) => kind === "file");
  for (const pack of new Set(files.map((entry) => entry.pack ?? ""))) {
    const inPack = files.filter((entry) => entry.pack === pack);
    await writeFiles({ saved, pack, pathOf }, inPack);
  }
  // Last, and the deepest first: a directory may not be writable.
  for (const entry of entries.toReversed()) if (entry.kind === "directory") await chmod(pathOf(entry), entry.mode);
}

const pathIn =
  (roots: DiskRoots) =>
  (entry: DiskEntry): Buffer => {
    const [name = "", ...rest] = entry.path.split("/");
    const root = Buffer.from(roots[name as keyof DiskRoots]);
    return Buffer.concat([root, Buffer.from(`/${rest.join("/")}`, "latin1")]);
  };

interface PackContext {
  saved: SavedDisks;
  pack: string;
  pathOf(entry: DiskEntry): Buffer;
}

/** The pack is read once, from its beginning. */
async function writeFiles({ saved, pack, pathOf }: PackContext, files: DiskEntry[]): Promise<void> {
  const inOrder = files.toSorted((left, right) => offsetOf(left) - offsetOf(right));
  const filled = inOrder.filter(({ sizeBytes = 0 }) => sizeBytes > 0);
  for (const entry of inOrder) if (!entry.sizeBytes) await finish(await create(pathOf(entry)), entry, pathOf);
  let [entry] = filled;
  let file: FileHandle | null = null;
  let at = 0;
  let next = 1;
  if (entry === undefined) return;
  for await (const block of await saved.readPack(pack)) {
    const end = at + block.length;
    while (entry !== undefined && offsetOf(entry) < end) {
      file ??= await create(pathOf(entry));
      const last = offsetOf(entry) + (entry.sizeBytes ?? 0);
      const part = block.subarray(Math.max(0, offsetOf(entry) - at), Math.min(block.length, last - at));
      await file.appendFile(part);
      if (last > end) break;
      await finish(file, entry, pathOf);
      file = null;
      entry = filled[next];
      next += 1;
    }
    at = end;
  }
  if (entry !== undefined) throw new Error(`pack ${pack} ends before ${entry.path}`);
}

const offsetOf = ({ offset = 0 }: DiskEntry): number => offset;

const create = (path: Buffer): Promise<FileHandle> => open(path, "wx", 0o600);

async function finish(file: FileHandle, entry: DiskEntry, pathOf: PackContext["pathOf"]): Promise<void> {
  await file.chmod(entry.mode);
  await file.close();
  await utimes(pathOf(entry), entry.mtimeMs / 1_000, entry.mtimeMs / 1_000);
}
