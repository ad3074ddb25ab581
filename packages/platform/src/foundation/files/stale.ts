// Entries of a directory that no process has changed for a while.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface StaleQuery {
  directory: string;
  /** Names that begin and end like this. */
  prefix?: string;
  suffix: RegExp;
  /** Milliseconds since 1970: entries changed since then are left out. */
  before: number;
}

/** Their paths; none if the directory does not exist. Links are not followed. */
export async function listStale({ directory, prefix = "", suffix, before }: StaleQuery): Promise<string[]> {
  const isNamed = (name: string) => name.startsWith(prefix) && suffix.test(name.slice(prefix.length));
  const paths = (await listNames(directory)).filter(isNamed).map((name) => join(directory, name));
  const changes = await Promise.all(paths.map(changedAt));
  return paths.filter((_path, index) => (changes[index] ?? before) < before);
}

/** In order; none if the directory does not exist. */
export async function listNames(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** Null if it was removed meanwhile. The second time cannot be set by its owner. */
async function changedAt(path: string): Promise<number | null> {
  const stats = await lstat(path).catch(() => null);
  return stats && Math.max(stats.mtimeMs, stats.ctimeMs);
}

/** The whole rest of a name is a random id. */
export const randomId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
