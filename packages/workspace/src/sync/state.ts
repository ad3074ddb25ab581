// What one side remembers of the moment when both were equal.
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Listing } from "./listing.ts";

export interface SyncState {
  /** The same on both sides. */
  id: string;
  listing: Listing;
}

/** Undefined if they never were equal, as far as is known here. */
export async function readSyncState(file: string): Promise<SyncState | undefined> {
  try {
    const { id, listing } = JSON.parse(await readFile(file, "utf8")) as { id: string; listing: [string, string][] };
    return { id, listing: new Map(listing) };
  } catch {
    return undefined;
  }
}

export async function writeSyncState(file: string, { id, listing }: SyncState): Promise<void> {
  const draft = `${file}.draft-${process.pid}`;
  await writeFile(draft, JSON.stringify({ id, listing: [...listing] }), { mode: 0o600 });
  await rename(draft, file);
}
