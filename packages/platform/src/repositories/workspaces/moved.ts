// Repositories of agents after the data directory was moved: the host's git directories name where they read objects from.
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Objects are in a mirror or in the embedded git host, at the same place below the data directory as before. Names that
 * lead to something stay: a data directory may have been copied.
 */
export async function followMove(hostDirectory: string): Promise<void> {
  const file = join(hostDirectory, "objects/info/alternates");
  const text = await readIfPresent(file);
  const dataDirectory = dirname(dirname(dirname(hostDirectory)));
  const moved = text
    .split("\n")
    .map((line) => (line === "" || existsSync(line) ? line : (pathBelow(dataDirectory, line) ?? line)))
    .join("\n");
  if (moved === text) return;
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, moved);
  await rename(draft, file);
}

/** Of a directory of objects: `mirrors/<name>/objects`, or `repositories/<team>/<name>/objects` and the like. */
function pathBelow(dataDirectory: string, former: string): string | null {
  const names = former.split("/");
  const first = names.findLastIndex((name) => name === "mirrors" || name === "repositories");
  if (first < 0 || basename(former) !== "objects" || names.includes("..")) return null;
  const path = join(dataDirectory, ...names.slice(first));
  return existsSync(path) ? path : null;
}

async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
