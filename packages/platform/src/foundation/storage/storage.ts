// Watches the disk of the data directory, and keeps a reserve that is released when the disk is full: the server can then
// still end its runs, and its embedded database can still write.
import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { open, rm, statfs } from "node:fs/promises";
import type { Log } from "../telemetry/index.ts";
import {
  describeStorage,
  hasSpaceForReserve,
  isStorageFull,
  reservePath,
  type StorageState,
  stateOf,
} from "./space.ts";

export interface Storage {
  /** The reason why nothing can be stored; null while there is space. */
  obstacle(): string | null;
  /** Called each time the disk becomes full, at once if it is. The result unsubscribes. */
  onFull(listener: () => void): () => void;
  /** Called each time there is space again. */
  onSpace(listener: () => void): void;
  /** Looks now: something could not be stored. */
  check(): Promise<void>;
  /** Keeps the reserve and looks every second, until `close`. */
  watch(): void;
  close(): void;
}

const pollMs = 1_000;
const chunkBytes = 1024 ** 2;

export function openStorage(directory: string, log: Log): Storage {
  const listeners = new Set<() => void>();
  const returns = new Set<() => void>();
  const reserve = reservePath(directory);
  let isFull = false;
  let isWatching = false;
  let timer: NodeJS.Timeout | undefined;

  function become(state: StorageState): void {
    const { freeBytes } = state;
    if (!isFull && state.isFull) {
      isFull = true;
      rmSync(reserve, { force: true });
      log.warn("storage.full", { code: "storage_full", freeBytes, remedy: "Free space in the data directory." });
      for (const notify of [...listeners]) notify();
    } else if (isFull && !state.isFull && hasSpaceForReserve(state)) {
      isFull = false;
      log.info("storage.available", { freeBytes });
      for (const notify of [...returns]) notify();
    }
  }

  async function look(): Promise<void> {
    const state = stateOf(await statfs(directory));
    become(state);
    if (isFull || !isWatching || sizeOf(reserve) === state.reserveBytes) return;
    if (hasSpaceForReserve(state)) await fill(reserve, state.reserveBytes);
  }

  const check = (): Promise<void> =>
    look().catch((error: unknown) => log.error("storage.unknown", error, { code: "storage_unknown" }));

  async function poll(): Promise<void> {
    await check();
    if (isWatching) timer = setTimeout(poll, pollMs).unref();
  }

  become(describeStorage(directory));
  return {
    obstacle: () => (isFull ? obstacle : null),
    onFull(listener) {
      listeners.add(listener);
      if (isFull) listener();
      return () => void listeners.delete(listener);
    },
    onSpace: (listener) => void returns.add(listener),
    check,
    watch() {
      isWatching = true;
      void poll();
    },
    close() {
      isWatching = false;
      clearTimeout(timer);
    },
  };
}

const obstacle =
  "storage_full: the disk of the data directory is full. Free space there; the server continues by itself";

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Written, not only made long: a file with holes reserves nothing. Random, because some file systems compress. */
async function fill(path: string, bytes: number): Promise<void> {
  const chunk = randomBytes(Math.min(chunkBytes, bytes));
  const file = await open(path, "w", 0o600);
  try {
    for (let written = 0; written < bytes; )
      written += (await file.write(chunk, 0, Math.min(chunk.length, bytes - written))).bytesWritten;
  } catch (error) {
    await rm(path, { force: true });
    if (!isStorageFull(error)) throw error;
  } finally {
    await file.close();
  }
}
