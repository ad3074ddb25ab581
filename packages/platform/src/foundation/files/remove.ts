// Removes a directory that an agent controls, whatever it contains.
import { rmdir, unlink } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { walk } from "./walk.ts";

const maxAttempts = 10;
const retryMs = 50;

/** Nothing happens if it does not exist. */
export async function removeTree(directory: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await removeContents(directory);
    const failure = await outcomeOf(rmdir(directory));
    if (failure === null || failure.code === "ENOENT") return;
    if (failure.code === "ENOTDIR") return unlink(directory);
    // A process that is still exiting may add a file to a directory that was just emptied.
    if (failure.code !== "ENOTEMPTY" || attempt === maxAttempts) throw failure;
    await setTimeout(retryMs);
  }
}

async function removeContents(directory: string): Promise<void> {
  for await (const { kind, entry } of walk(directory, { access: "write" })) {
    if (kind === "left") await outcomeOf(rmdir(entry.address));
    else if (kind === "entry" && !entry.stats.isDirectory()) await outcomeOf(unlink(entry.address));
  }
}

/** What could not be removed is noticed when its directory cannot be removed. */
const outcomeOf = (removal: Promise<void>): Promise<NodeJS.ErrnoException | null> =>
  removal.then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );
