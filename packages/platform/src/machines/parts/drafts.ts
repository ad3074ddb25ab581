// Directories that are complete once they have their name: made as drafts, published by a rename, removed as drafts again.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasLiveOwner, ownerSuffix } from "../../foundation/index.ts";
import { removeTree, run } from "./command.ts";

/** `.draft-<name>-<owner>-<random>` */
export function makeDraft(parent: string, name: string): string {
  const path = draftPath(parent, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

const draftPath = (parent: string, name: string) =>
  join(parent, `.draft-${name}-${ownerSuffix()}-${randomBytes(4).toString("hex")}`);

/** False if the name was taken in between. The draft is then removed. */
export async function publish(draft: string, path: string): Promise<boolean> {
  try {
    renameSync(draft, path);
    return true;
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await removeTree(draft);
    return false;
  }
}

/**
 * As `publish`, and after a power loss too the name stands for all of its files. A call for each of the files would take
 * longer than one for the file system.
 */
export async function publishWritten(draft: string, path: string): Promise<boolean> {
  if (!existsSync(path)) await run(["sync", "--file-system", draft]);
  if (!(await publish(draft, path))) return false;
  const parent = await open(dirname(path));
  await parent.sync().finally(() => parent.close());
  return true;
}

/** Takes the name away first, so that a removal that is cut short leaves no half of it. */
export const unpublish = (parent: string, name: string): Promise<void> => setAside(parent, name)();

/** Takes the name away; the returned function removes the files. */
export function setAside(parent: string, name: string): () => Promise<void> {
  const draft = draftPath(parent, name);
  try {
    renameSync(join(parent, name), draft);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return async () => {};
    throw error;
  }
  return () => removeTree(draft);
}

export const published = (parent: string): string[] => readdirSync(parent).filter((name) => !name.startsWith("."));

/** The names that drafts of live processes will have. */
export const beingMade = (parent: string): string[] =>
  readdirSync(parent)
    .filter((name) => name.startsWith(".") && hasLiveOwner(name))
    .map((name) => name.replace(/^\.draft-(.*)-\d+-\d+-[0-9a-f]+$/, "$1"));

/** Removes the drafts of processes that are gone. */
export async function collectDrafts(parent: string): Promise<void> {
  for (const name of readdirSync(parent))
    if (name.startsWith(".draft-") && !hasLiveOwner(name)) await removeTree(join(parent, name));
}
