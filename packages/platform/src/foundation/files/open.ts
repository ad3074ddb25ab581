// Opens what a walk found: never through a link, and also where the owner, which is the server's own user, removed the
// permission to read it.
import { constants, type Stats } from "node:fs";
import { chmod, type FileHandle, open } from "node:fs/promises";

export interface Found {
  stats: Stats;
  address: Buffer;
}

/** A path to what a handle holds, wherever it was moved to. Null where the kernel has none. */
export const heldPath = (handle: FileHandle | null): string | null =>
  handle && process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : null;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Null if it was removed or replaced, or cannot be read. Permissions of the server that were missing are added. */
export async function openDirectory(found: Found, access: "read" | "write"): Promise<FileHandle | null> {
  if (lacks(found, access === "read" ? 0o500 : 0o700))
    await unlock(found, O_DIRECTORY, (path, mode) => chmod(path, mode | (access === "read" ? 0o500 : 0o700)));
  return open(found.address, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => null);
}

/** Null if it was removed or replaced, or cannot be read. */
export async function openFile(found: Found): Promise<FileHandle | null> {
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  const file = lacks(found, 0o400)
    ? await unlock(found, 0, async (path, mode) => {
        await chmod(path, mode | 0o400);
        try {
          return await open(path, O_RDONLY | O_NONBLOCK);
        } finally {
          await chmod(path, mode);
        }
      })
    : await open(found.address, flags).catch(() => null);
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  return null;
}

const lacks = ({ stats }: Found, needed: number): boolean =>
  (stats.mode & needed) !== needed && stats.uid === process.geteuid?.() && stats.uid !== 0;

/** Linux: a handle without access, for a path alone. */
const pathOnly = 0o10000000;

/** Through a handle of the thing itself: a link in its place would change a file of the operator. */
async function unlock<Result>(
  { address, stats }: Found,
  flags: number,
  use: (path: string, mode: number) => Promise<Result>,
): Promise<Result | null> {
  if (process.platform !== "linux") return null;
  const handle = await open(address, pathOnly | O_NOFOLLOW | flags).catch(() => null);
  try {
    const held = heldPath(handle);
    const isSame = (await handle?.stat())?.ino === stats.ino;
    return held && isSame ? await use(held, stats.mode & 0o7777) : null;
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}
