// Copies of an index.
import { copyFile, stat, utimes } from "node:fs/promises";

/**
 * Git reads a file of unchanged size and second only if that second is not before the time of the index. A copy has
 * the time of its original, in whole seconds: a file that changed right after its checkout is then read.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const second = Math.floor((await stat(from)).mtimeMs / 1000);
  await utimes(to, second, second);
}
