// The files below a directory, each with what shows that it has changed. Names are latin1 texts: any bytes survive.
import type { Stats } from "node:fs";
import { chmod, lstat, readdir } from "node:fs/promises";

/** Paths relative to the directory, with what changes with the file. */
export type Listing = Map<string, string>;

export interface Changes {
  removed: string[];
  /** Directories before what is in them. */
  written: string[];
}

/** Directly in the directory, and only on this side: the home of the agent, and what is being made. */
export const isOwn = (name: string): boolean => name === ".home" || name.startsWith(".draft-");

/** Nothing may write there meanwhile. Sockets and devices are left out. */
export async function listFiles(directory: string): Promise<Listing> {
  const listing: Listing = new Map();
  const names = await readNames(Buffer.from(directory));
  for (const name of names.filter((each) => !isOwn(each))) await list(directory, name, listing);
  return listing;
}

async function list(directory: string, path: string, listing: Listing): Promise<void> {
  const address = addressOf(directory, path);
  const stats = await lstat(address);
  if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) return;
  listing.set(path, signatureOf(stats));
  if (!stats.isDirectory()) return;
  for (const name of await readNames(address)) await list(directory, `${path}/${name}`, listing);
}

/** A directory that its owner cannot read is made readable. */
async function readNames(address: Buffer): Promise<string[]> {
  const read = async () => (await readdir(address, { encoding: "latin1" })).sort();
  return read().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES") throw error;
    await chmod(address, 0o700);
    return read();
  });
}

export const addressOf = (directory: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(path, "latin1")]);

function signatureOf(stats: Stats): string {
  const mode = (stats.mode & 0o777).toString(8);
  if (stats.isDirectory()) return `d ${mode}`;
  return `${stats.isFile() ? "f" : "l"} ${mode} ${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

export function changesSince(before: Listing, now: Listing): Changes {
  return {
    removed: [...before.keys()].filter((path) => !now.has(path)),
    written: [...now].flatMap(([path, signature]) => (before.get(path) === signature ? [] : path)),
  };
}
