// Measures the files of an agent while a run is active, and reports once that they exceed the limit. No file system quota is
// needed: between two measurements the agent can exceed it, so the free space of the disk decides how soon to measure again.
import { constants } from "node:fs";
import { chmod, lstat, open, readdir, readlink, statfs } from "node:fs/promises";
import { join } from "node:path";

export interface DiskWatchOptions {
  directory: string;
  maxBytes: number;
  /** Called once, with the size that was found. */
  onExceeded(bytes: number): void;
}

const pollMs = 1_000;
/** A measurement is repeated after this many times its own duration. */
const restFactor = 20;
/** What an agent that begins above its limit may add: it must be able to delete files. */
const cleanUpBytes = 16 * 1024 ** 2;
/** Every entry occupies at least this much, so that empty files are limited too. */
const minEntryBytes = 4_096;

export interface DiskWatch {
  /** Settles once the files are measured that the agent begins with. */
  ready: Promise<void>;
  stop(): void;
}

export function watchDisk({ directory, maxBytes, onExceeded }: DiskWatchOptions): DiskWatch {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let allowed = maxBytes;
  let next = { atMs: 0, belowFreeBytes: 0 };

  async function begin(): Promise<void> {
    const bytes = await measure(directory);
    if (bytes > maxBytes) allowed = bytes + cleanUpBytes;
    if (!isStopped) timer = setTimeout(poll, pollMs);
  }

  async function poll(): Promise<void> {
    try {
      const freeBytes = await freeSpace(directory);
      if (Date.now() >= next.atMs || freeBytes < next.belowFreeBytes) await check(freeBytes);
    } catch {
      // The directory does not exist yet, or no longer.
    }
    if (!isStopped) timer = setTimeout(poll, pollMs);
  }

  async function check(freeBytes: number): Promise<void> {
    const startedMs = Date.now();
    const bytes = await measure(directory);
    if (bytes > allowed && !isStopped) {
      isStopped = true;
      return onExceeded(bytes);
    }
    const tookMs = Date.now() - startedMs;
    next = { atMs: Date.now() + restFactor * tookMs, belowFreeBytes: freeBytes - (allowed - bytes) };
  }

  return {
    ready: begin(),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Occupied space; a file with several names counts once. */
export async function measure(directory: string): Promise<number> {
  const linked = new Set<number>();
  async function sizeOf(path: string): Promise<number> {
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return 0;
    if (!stats.isDirectory() && stats.nlink > 1) {
      if (linked.has(stats.ino)) return 0;
      linked.add(stats.ino);
    }
    const own = Math.max(stats.blocks * 512, minEntryBytes);
    return stats.isDirectory() ? own + (await sumOf(path, stats.mode)) : own;
  }
  async function sumOf(path: string, mode: number): Promise<number> {
    let sum = 0;
    for (const name of await namesIn(path, mode)) sum += await sizeOf(join(path, name));
    return sum;
  }
  return sizeOf(directory);
}

/** An agent of the server's own user could otherwise hide files in a directory that it makes unreadable. */
async function namesIn(path: string, mode: number): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES" || process.geteuid?.() === 0) return [];
    return readUnreadable(path, mode).catch(() => []);
  }
}

/** Linux: a handle without access, for a path alone. */
const pathOnly = 0o10000000;

/** Through a handle of the directory itself: a link in its place would change a file of the operator. */
async function readUnreadable(path: string, mode: number): Promise<string[]> {
  const handle = await open(path, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${handle.fd}`;
    if ((await readlink(held)) !== path) return [];
    await chmod(held, (mode & 0o777) | 0o500);
    return await readdir(held);
  } finally {
    await handle.close();
  }
}
