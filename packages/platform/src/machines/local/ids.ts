// Which user ids belong to which machine: one range each, kept until the machine is removed.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { rangeSize } from "./user-namespace.ts";

/** In the part that systemd sets aside for containers. */
const firstId = 600_000_000;
const rangeCount = 16_384;

/** The owner of all layers; no machine has this range as its own. */
export const layerRange = firstId;

export interface Ranges {
  /** The first id of the machine's range. */
  reserve(machineId: string): number;
  release(machineId: string): void;
  /** Frees the ranges of machines that are not in the list. */
  keepOnly(machineIds: Set<string>): void;
}

/** A range is a link named by its number to the id of its machine: creating one either succeeds or finds it taken. */
export function openRanges(directory: string): Ranges {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const free = (isFree: (owner: string) => boolean) => {
    for (const name of readdirSync(directory))
      if (isFree(readlinkSync(join(directory, name)))) unlinkSync(join(directory, name));
  };
  return {
    reserve(machineId) {
      const start = createHash("sha256").update(machineId).digest().readUInt32BE();
      for (let attempt = 0; attempt < rangeCount - 1; attempt += 1) {
        const number = 1 + ((start + attempt) % (rangeCount - 1));
        if (take(join(directory, String(number)), machineId)) return firstId + number * rangeSize;
      }
      throw new Error(`All ${rangeCount - 1} ranges of user ids are taken. Remove machines that are no longer needed.`);
    },
    release: (machineId) => free((owner) => owner === machineId),
    keepOnly: (machineIds) => free((owner) => !machineIds.has(owner)),
  };
}

/** True also if it has been this machine's before. */
function take(path: string, machineId: string): boolean {
  try {
    symlinkSync(machineId, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readlinkSync(path) === machineId;
  }
}
