// What this server remembers of the files that workers have: one file for each agent.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "../foundation/index.ts";

type DataDirectory = Pick<Settings, "dataDirectory">;

export const syncDirectory = ({ dataDirectory }: DataDirectory): string => join(dataDirectory, "worker-sync");

export const syncStateFile = (directory: string, agentDirectory: string): string =>
  join(directory, `${agentDirectory}.json`);

/** Of an agent whose files are removed: if it goes on, its worker gets all files again. */
export const forgetSync = (settings: DataDirectory, agentDirectory: string): Promise<void> =>
  rm(syncStateFile(syncDirectory(settings), agentDirectory), { force: true });
