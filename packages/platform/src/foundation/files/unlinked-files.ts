// Files of an agent that have no name any more but are still in use: they occupy the disk until its processes close them.
import type { Stats } from "node:fs";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { basename } from "node:path";

export interface UnlinkedFiles {
  bytes: number;
  /**
   * Whether there may be more: descriptors on their way between two processes, mapped files of which only the mapped part is
   * known, processes that may not be inspected.
   */
  isPartial: boolean;
}

/** Of all processes that have the directory mounted. */
export async function findUnlinkedFiles(directory: string): Promise<UnlinkedFiles> {
  const { dev } = await stat(directory);
  const found: Found = { device: dev, sizes: new Map(), partly: new Set(), isPartial: false };
  for (const thread of (await Promise.all((await processesIn(directory)).map(threadsOf))).flat()) {
    await addOpened(thread, found);
    await addMapped(thread, found);
  }
  const bytes = [...found.sizes.values()].reduce((sum, size) => sum + size, 0);
  return { bytes, isPartial: found.isPartial || found.partly.size > 0 };
}

interface Found {
  device: number;
  /** Bytes by inode: several processes may use one file. */
  sizes: Map<string, number>;
  /** Inodes of which only the mapped part is known. */
  partly: Set<string>;
  isPartial: boolean;
}

/** A thread may have descriptors of its own, and go on when the first one has ended, which then has none. */
const threadsOf = async (process: string): Promise<string[]> =>
  (await readdir(`${process}/task`).catch(() => [])).map((id) => `${process}/task/${id}`);

const add = ({ sizes }: Found, inode: string, bytes: number): void =>
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

async function addOpened(thread: string, found: Found): Promise<void> {
  const names = await readdir(`${thread}/fd`).catch(() => null);
  if (names === null && !(await hasEnded(thread))) found.isPartial = true;
  for (const name of names ?? []) {
    const stats = await stat(`${thread}/fd/${name}`).catch(() => null);
    if (stats?.isSocket() && (await hasDescriptorsInFlight(`${thread}/fdinfo/${name}`))) found.isPartial = true;
    if (stats) addFile(stats, found);
  }
}

/** `12 (name) Z …`: it has no descriptors, and only root may see that. */
const hasEnded = async (thread: string): Promise<boolean> =>
  /\) [ZX] [^)]*$|^$/.test((await readFile(`${thread}/stat`, "utf8").catch(() => "")).trim());

/** Sent over a socket and not received yet: no process has them. */
const hasDescriptorsInFlight = async (socket: string): Promise<boolean> =>
  /^scm_fds:\s*[1-9]/m.test(await readFile(socket, "utf8").catch(() => ""));

function addFile(stats: Stats, found: Found): void {
  if (!stats.isFile() || stats.nlink > 0 || stats.dev !== found.device) return;
  add(found, String(stats.ino), Math.max(stats.blocks * 512, stats.size));
  found.partly.delete(String(stats.ino));
}

/** `7f00-7f10 rw-s 00001000 fd:01 1234 /workspace/file (deleted)` */
const deletedMapping = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$/gm;

/** A page of it keeps the whole file. Only root may ask for the file itself. */
async function addMapped(thread: string, found: Found): Promise<void> {
  const maps = await readFile(`${thread}/maps`, "utf8").catch(() => "");
  for (const [, start = "", end = "", offset = "", major = "", minor = "", inode = ""] of maps.matchAll(
    deletedMapping,
  )) {
    if (deviceNumber(hex(major), hex(minor)) !== found.device) continue;
    const stats = await stat(`${thread.replace(/\/task\/.*/, "")}/map_files/${start}-${end}`).catch(() => null);
    if (stats) addFile(stats, found);
    else if (!found.sizes.has(inode)) found.partly.add(inode);
    if (!stats) add(found, inode, hex(offset) + hex(end) - hex(start));
  }
}

const hex = (text: string): number => Number(`0x${text}`);

/** As the kernel reports it for a file. */
const deviceNumber = (major: number, minor: number): number =>
  (minor & 0xff) + major * 0x100 + (minor - (minor & 0xff)) * 0x1000;
