// Replaces all files of a directory by those that another machine sends. They are complete before the former ones go.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type ApplyLimits, applyChanges } from "./apply.ts";
import { addressOf, isOwn } from "./listing.ts";

/** Throws SyncFault; the directory is unchanged then. No process may write there meanwhile. */
export async function replaceFiles(from: Readable, directory: string, limits: ApplyLimits): Promise<void> {
  const [draft, former] = [join(directory, `.draft-${randomUUID()}`), join(directory, `.draft-${randomUUID()}`)];
  try {
    await mkdir(draft, { mode: 0o700 });
    await applyChanges(from, draft, limits);
    for (const kept of limits.directories) await mkdir(join(draft, kept), { recursive: true });
    await mkdir(former, { mode: 0o700 });
    await exchange(directory, draft, former);
  } finally {
    for (const path of [draft, former]) await rm(path, { recursive: true, force: true });
  }
}

/** All of it or nothing: what cannot be moved is the reason to move the rest back. */
async function exchange(directory: string, draft: string, former: string): Promise<void> {
  try {
    await moveFiles(directory, former);
  } catch (error) {
    await moveFiles(former, directory);
    throw error;
  }
  try {
    await moveFiles(draft, directory);
  } catch (error) {
    await moveFiles(directory, draft);
    await moveFiles(former, directory);
    throw error;
  }
}

async function moveFiles(from: string, to: string): Promise<void> {
  const names = await readdir(from, { encoding: "latin1" });
  for (const name of names.filter((each) => !isOwn(each))) await rename(addressOf(from, name), addressOf(to, name));
}
