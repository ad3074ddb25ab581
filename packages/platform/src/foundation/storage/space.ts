// How much space the file system of the data directory has, and which errors say that it has none.
import { existsSync, type StatsFs, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExitName } from "@agentcli/protocol/exit-codes";

export interface StorageState {
  freeBytes: number;
  /** Bytes that a server keeps for itself; smaller on a small file system. */
  reserveBytes: number;
  /** Less than this is free: full. */
  lowBytes: number;
  isFull: boolean;
}

/** PostgreSQL continues its log in files of 16 MiB: two of them. */
const maxReserveBytes = 32 * 1024 ** 2;
/** The reserve's share of a small file system. */
const reserveShare = 16;
const lowShare = 4;
/** A file system can have space left and no room for another file. */
const minFreeFiles = 100;

export const reservePath = (directory: string): string => join(directory, "reserve");

/** As a start finds it. Where the reserve was released, the disk stays full until there is space for another. */
export function describeStorage(directory: string): StorageState {
  let existing = directory;
  while (!existsSync(existing)) existing = dirname(existing);
  const state = stateOf(statfsSync(existing));
  return existsSync(reservePath(directory)) ? state : { ...state, isFull: state.isFull || !hasSpaceForReserve(state) };
}

export const hasSpaceForReserve = ({ freeBytes, reserveBytes, lowBytes }: StorageState): boolean =>
  freeBytes >= reserveBytes + 2 * lowBytes;

export function stateOf({ bavail, bsize, blocks, files, ffree }: StatsFs): StorageState {
  const freeBytes = bavail * bsize;
  const reserveBytes = Math.floor(Math.min(maxReserveBytes, (blocks * bsize) / reserveShare));
  const lowBytes = Math.floor(reserveBytes / lowShare);
  // A file system without a fixed number of files reports 0 of them.
  const isFull = freeBytes < lowBytes || (files > 0 && ffree < minFreeFiles);
  return { freeBytes, reserveBytes, lowBytes, isFull };
}

/** For the owners of runs. */
export const storageFullMessage =
  "The disk of the server is full. Ask an administrator to free space, then continue with a follow-up.";

/** The server could not be started because its disk is full. */
export class StorageFull extends Error {
  override name = "StorageFull";
  readonly exit: ExitName = "failed";

  constructor(directory: string, cause: unknown) {
    super(`storage_full: the disk of ${directory} is full. Free space there, then start again.`, { cause });
  }
}

const systemCodes = ["ENOSPC", "EDQUOT"];
const databaseCode = "53100";
/** As programs print it; what a remote host prints about its own disk is not ours. */
const printed = /^(?!remote:).*(?:No space left on device|Out of diskspace|Disk quota exceeded|ENOSPC|EDQUOT)/im;

/** Whether it or what caused it says that the disk is full. */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "", stderr = "" } = error as { code?: string; stderr?: string };
  if ([...systemCodes, databaseCode].includes(code)) return true;
  return printed.test(error.message) || printed.test(stderr) || isStorageFull(error.cause);
}
