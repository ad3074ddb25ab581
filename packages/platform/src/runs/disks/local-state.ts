// What a data directory has saved or fetched last of the files of each agent: DATA/disks/DIRECTORY.json. Without it
// everything is saved again.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DiskEntry } from "./scan.ts";

export interface LocalState {
  saveId: string | null;
  entries: DiskEntry[];
  /** It had more entries than are saved when it was last to be saved. */
  isTooLarge?: boolean;
}

interface DataDirectory {
  dataDirectory: string;
}

const stateFile = ({ dataDirectory }: DataDirectory, directory: string): string =>
  join(dataDirectory, "disks", `${directory}.json`);

export async function readState(settings: DataDirectory, directory: string): Promise<LocalState> {
  try {
    return JSON.parse(await readFile(stateFile(settings, directory), "utf8"));
  } catch {
    // Missing, or cut by a crash.
    return { saveId: null, entries: [] };
  }
}

export async function writeState(settings: DataDirectory, directory: string, state: LocalState): Promise<void> {
  const path = stateFile(settings, directory);
  await mkdir(join(settings.dataDirectory, "disks"), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.draft`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${path}.draft`, path);
}

export async function removeState(settings: DataDirectory, directory: string): Promise<void> {
  for (const end of ["", ".draft"]) await rm(`${stateFile(settings, directory)}${end}`, { force: true });
}

/** All that this data directory has: their names. */
export async function listStates({ dataDirectory }: DataDirectory): Promise<string[]> {
  const files = await readdir(join(dataDirectory, "disks")).catch(() => []);
  return [...new Set(files.flatMap((file) => /^(.+)\.json(?:\.draft)?$/.exec(file)?.[1] ?? []))];
}
