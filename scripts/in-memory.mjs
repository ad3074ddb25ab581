// A directory in memory for what tests write most: of the processor time of their databases, the disk's file system took three quarters.
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const neededBytes = 4 * 1024 ** 3;

/** Passes the directory, which is removed afterwards; null where there is not enough memory for one. */
export function inMemory(use, memory = "/dev/shm") {
  if (!hasRoom(memory)) return use(null);
  removeLeftovers(memory);
  const directory = mkdtempSync(join(memory, `platform-tests-${process.pid}-`));
  try {
    return use(directory);
  } finally {
    remove(directory);
  }
}

/** A test process that was killed leaves its database running. */
function remove(directory) {
  try {
    process.kill(Number.parseInt(readFileSync(join(directory, "postgres/postmaster.pid"), "utf8"), 10), "SIGQUIT");
  } catch {} // The last test process has stopped it.
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}

function hasRoom(memory) {
  try {
    accessSync(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= neededBytes;
  } catch {
    return false; // Not on this system.
  }
}

/** Of runs that were killed. */
function removeLeftovers(memory) {
  for (const name of readdirSync(memory)) {
    const [, pid] = /^platform-tests-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(memory, name));
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM"; // Of another user.
  }
}
