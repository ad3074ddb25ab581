// Copies of an index, and the commit that one belongs to.
import { copyFile, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";

/**
 * Git reads a file of unchanged size and second only if that second is not before the time of the index. A copy has
 * the time of its original, in whole seconds: a file that changed right after its checkout is then read.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const second = Math.floor((await stat(from)).mtimeMs / 1000);
  await utimes(to, second, second);
}

const noteOf = (index: string) => `${index}-commit`;

/** The commit that the index has the files of, as it was noted; null if that is not known. */
export async function commitOfIndex(index: string): Promise<string | null> {
  try {
    return await readFile(noteOf(index), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export const noteCommitOfIndex = (index: string, commit: string): Promise<void> => writeFile(noteOf(index), commit);

/** A crash in between leaves no note, and never that of another index. */
export async function replaceIndex(index: string, { draft, commit }: { draft: string; commit: string }): Promise<void> {
  await rm(noteOf(index), { force: true });
  await rename(draft, index);
  await noteCommitOfIndex(index, commit);
}
