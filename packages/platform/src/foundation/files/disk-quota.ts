// Measures the files of an agent or a build while it runs, and reports once that they exceed the limit. No file system quota is
// needed: between two measurements it can exceed the limit, so the free space of the disk decides how soon to measure again.
// Of an agent that holds files which cannot be measured, what the disk has lost since counts instead.
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { findUnlinkedFiles } from "./unlinked-files.ts";
import { walk } from "./walk.ts";

export interface DiskWatchOptions {
  directory: string;
  maxBytes: number;
  /** Called once, with the size that was found. */
  onExceeded(bytes: number): void;
  /** Bytes that are free on the disk of a directory. */
  freeSpace?(directory: string): Promise<number>;
}

const pollMs = 1_000;
/** A measurement is repeated after this many times its own duration. */
const restFactor = 20;
/** What an agent that begins above its limit may add: it must be able to delete files. */
const cleanUpBytes = 16 * 1024 ** 2;
/** Looking for files without a name takes longer: that is done when the disk has lost what the agent may add, and at times. */
const unlinkedPollMs = 30_000;
/** Every entry occupies at least this much, so that empty files are limited too. */
const minEntryBytes = 4_096;

export interface DiskWatch {
  /** Settles once the files are measured that the agent begins with. */
  ready: Promise<void>;
  stop(): void;
}

export function watchDisk({ directory, maxBytes, onExceeded, freeSpace = freeSpaceOf }: DiskWatchOptions): DiskWatch {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let allowed = maxBytes;
  let next = { atMs: 0, belowFreeBytes: 0 };
  let unlinked = { bytes: 0, isPartial: false, atMs: Date.now() + unlinkedPollMs, belowFreeBytes: 0 };
  let first = { named: 0, freeBytes: 0 };

  async function begin(): Promise<void> {
    const bytes = await measure(directory);
    if (bytes > maxBytes) allowed = bytes + cleanUpBytes;
    // A new agent has no directory yet.
    const freeBytes = await freeSpace(directory).catch(() => freeSpace(dirname(directory)).catch(() => 0));
    first = { named: bytes, freeBytes };
    unlinked.belowFreeBytes = freeBytes - (allowed - bytes);
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
    const named = await measure(directory);
    const wasPartial = unlinked.isPartial;
    if (startedMs >= unlinked.atMs || freeBytes < unlinked.belowFreeBytes || named + unlinked.bytes > allowed)
      await findUnlinked(named, freeBytes);
    const bytes = named + unlinked.bytes;
    if (bytes > allowed && !isStopped) {
      isStopped = true;
      return onExceeded(bytes);
    }
    const belowFreeBytes = unlinked.isPartial && !wasPartial ? Number.POSITIVE_INFINITY : freeBytes - (allowed - bytes);
    next = { atMs: Date.now() + restFactor * (Date.now() - startedMs), belowFreeBytes };
  }

  async function findUnlinked(named: number, freeBytes: number): Promise<void> {
    const { bytes: known, isPartial } = await findUnlinkedFiles(directory);
    // Twice, because descriptors are on their way between processes for moments only.
    const lost = isPartial && unlinked.isPartial ? first.freeBytes - freeBytes - (named - first.named) : 0;
    const bytes = Math.max(known, lost);
    const belowFreeBytes = isPartial ? Number.POSITIVE_INFINITY : freeBytes - (allowed - named - bytes);
    unlinked = { bytes, isPartial, atMs: Date.now() + unlinkedPollMs, belowFreeBytes };
  }

  return {
    ready: begin(),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

async function freeSpaceOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/**
 * A file with several names counts once. A file with holes counts with its length: a backup, a restore and a hand-off write
 * them out.
 */
export async function measure(directory: string): Promise<number> {
  const linked = new Set<number>();
  let sum = minEntryBytes;
  for await (const { kind, entry } of walk(directory, { access: "read" })) {
    const { stats } = entry;
    if (kind !== "entry" || linked.has(stats.ino)) continue;
    if (!stats.isDirectory() && stats.nlink > 1) linked.add(stats.ino);
    sum += Math.max(stats.blocks * 512, stats.isFile() ? stats.size : 0, minEntryBytes);
  }
  return sum;
}
