// Files of an agent that have no name any more but are still in use: they occupy the disk until its processes close them.
import type { Stats } from "node:fs";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { basename } from "node:path";

/** Of all processes that have the directory mounted. Those that may not be inspected are left out. */
export async function unlinkedBytes(directory: string): Promise<number> {
  const { dev } = await stat(directory);
  const sizes: Sizes = new Map();
  for (const thread of (await Promise.all((await processesIn(directory)).map(threadsOf))).flat()) {
    for (const name of await readdir(`${thread}/fd`).catch(() => []))
      addOpened(await stat(`${thread}/fd/${name}`).catch(() => null), dev, sizes);
    addMapped(await readFile(`${thread}/maps`, "utf8").catch(() => ""), dev, sizes);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** A thread may have descriptors of its own, and go on when the first one has ended, which then has none. */
const threadsOf = async (process: string): Promise<string[]> =>
  (await readdir(`${process}/task`).catch(() => [])).map((id) => `${process}/task/${id}`);

/** Bytes by inode: several processes may use one file. */
type Sizes = Map<string, number>;

const add = (sizes: Sizes, inode: string, bytes: number): void =>
  void sizes.set(inode, Math.max(bytes, sizes.get(inode) ?? 0));

/** Their name contains the directory's, which is unique, in the list of the mounts of each. */
async function processesIn(directory: string): Promise<string[]> {
  const found: string[] = [];
  const known = new Map<string, boolean>();
  for (const id of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const process = `/proc/${id}`;
    const living = await findLiving(process);
    if (living === null) continue;
    const { namespace, thread } = living;
    if (!known.has(namespace)) known.set(namespace, await hasMounted(thread, `/${basename(directory)}`));
    if (known.get(namespace)) found.push(process);
  }
  return found;
}

/** Its first thread, or another one if that has ended. */
async function findLiving(process: string): Promise<{ thread: string; namespace: string } | null> {
  const namespaceOf = (thread: string) => readlink(`${thread}/ns/mnt`).catch(() => null);
  const first = await namespaceOf(process);
  if (first !== null) return { thread: process, namespace: first };
  for (const thread of await threadsOf(process)) {
    const namespace = await namespaceOf(thread);
    if (namespace !== null) return { thread, namespace };
  }
  return null;
}

/** The fourth field is the mounted directory, within its file system. */
async function hasMounted(process: string, name: string): Promise<boolean> {
  const mounts = await readFile(`${process}/mountinfo`, "utf8").catch(() => "");
  return mounts.split("\n").some((line) => `${line.split(" ")[3]}/`.includes(`${name}/`));
}

function addOpened(stats: Stats | null, device: number, sizes: Sizes): void {
  if (stats?.isFile() && stats.nlink === 0 && stats.dev === device)
    add(sizes, String(stats.ino), Math.max(stats.blocks * 512, stats.size));
}

/** `7f00-7f10 rw-s 00001000 fd:01 1234 /workspace/file (deleted)` */
const deletedMapping = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$/gm;

function addMapped(maps: string, device: number, sizes: Sizes): void {
  for (const [, ...fields] of maps.matchAll(deletedMapping)) {
    const [start = 0, end = 0, offset = 0, major = 0, minor = 0] = fields
      .slice(0, 5)
      .map((text) => Number(`0x${text}`));
    if (deviceNumber(major, minor) === device) add(sizes, fields[5] ?? "", offset + end - start);
  }
}

/** As the kernel reports it for a file. */
const deviceNumber = (major: number, minor: number): number =>
  (minor & 0xff) + major * 0x100 + (minor - (minor & 0xff)) * 0x1000;
