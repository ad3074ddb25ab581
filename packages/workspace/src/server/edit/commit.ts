// Executes a plan. A failure anywhere leaves every file, mode and directory as it was, and no temporary file.
import type { Stats } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf, pathFaultOf } from "../files/index.ts";
import type { Effect } from "./plan.ts";
import { Refusal } from "./refusal.ts";

type Write = Extract<Effect, { kind: "write" }>;
type Undo = (() => Promise<void>)[];

export async function commit(effects: Effect[]): Promise<void> {
  const undo: Undo = [];
  const backups = await perform(effects, undo);
  for (const backup of backups) await rm(backup, { force: true });
}

/** Returns the backups of what was there before. */
async function perform(effects: Effect[], undo: Undo): Promise<string[]> {
  // New contents are written before the first file changes: a full disk or an unwritable directory shows up early.
  const staged = new Map<Effect, string>();
  const backups: string[] = [];
  for (const effect of effects) {
    if (effect.kind === "write") staged.set(effect, await attempt(effect, undo, () => writeTemporary(effect, undo)));
  }
  for (const effect of effects) {
    if (effect.kind === "remove") backups.push(await attempt(effect, undo, () => moveAside(effect.path, undo)));
  }
  for (const [effect, temporary] of staged) {
    const backup = await attempt(effect, undo, () => replaceFile(temporary, effect.path, undo));
    if (backup !== null) backups.push(backup);
  }
  return backups;
}

async function attempt<T>(effect: Effect, undo: Undo, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await undoAll(undo, error);
    const verb = effect.kind === "write" ? "write" : "delete";
    throw new Refusal(`Failed to ${verb} ${effect.displayPath}: ${pathFaultOf(error).reason}`, { cause: error });
  }
}

async function undoAll(undo: Undo, cause: unknown): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.reverse()) await step().catch((error) => failures.push(error));
  if (failures.length === 0) return;
  throw new Error(`The patch failed and could not be undone in full: ${failures.join("; ")}`, { cause });
}

/** Removes what the patch has made. What a process has removed, filled or replaced meanwhile is left to it. */
async function unlessTaken(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!["ENOENT", "ENOTDIR", "ENOTEMPTY"].includes(errnoOf(error) ?? "")) throw error;
  }
}

async function writeTemporary(write: Write, undo: Undo): Promise<string> {
  await makeDirectory(dirname(write.path), undo);
  const temporary = temporaryPathBeside(write.path);
  const handle = await open(temporary, "wx", write.like === null ? 0o666 : 0o600);
  undo.push(() => unlessTaken(rm(temporary)));
  try {
    await handle.writeFile(write.bytes);
    if (write.like !== null) await copyAttributes(handle, write.like);
  } finally {
    await handle.close();
  }
  return temporary;
}

// One level at a time: a recursive mkdir that fails half-way does not report what it created.
async function makeDirectory(directory: string, undo: Undo): Promise<void> {
  try {
    await mkdir(directory);
    undo.push(() => unlessTaken(rmdir(directory)));
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return;
    if (errnoOf(error) !== "ENOENT") throw error;
    await makeDirectory(dirname(directory), undo);
    await makeDirectory(directory, undo);
  }
}

/** Without set-id bits, as the kernel does on every write by an ordinary user. */
async function copyAttributes(handle: FileHandle, like: Stats): Promise<void> {
  if (process.getuid?.() === 0) await copyOwner(handle, like);
  await handle.chmod(like.mode & 0o777);
}

async function copyOwner(handle: FileHandle, like: Stats): Promise<void> {
  try {
    await handle.chown(like.uid, like.gid);
  } catch (error) {
    // Root of a user namespace can chown only to mapped users.
    if (!["EPERM", "EINVAL"].includes(errnoOf(error) ?? "")) throw error;
  }
}

async function moveAside(path: string, undo: Undo): Promise<string> {
  const backup = temporaryPathBeside(path);
  await rename(path, backup);
  undo.push(() => rename(backup, path));
  return backup;
}

async function replaceFile(temporary: string, path: string, undo: Undo): Promise<string | null> {
  const backup = temporaryPathBeside(path);
  undo.push(() => unlessTaken(rm(backup)));
  const replaced = await linkBackup(path, backup);
  await rename(temporary, path);
  undo.push(() => (replaced ? rename(backup, path) : unlessTaken(rm(path))));
  return replaced ? backup : null;
}

/** A hard link rather than a rename: readers find the file at every moment. False if there is no such file. */
async function linkBackup(path: string, backup: string): Promise<boolean> {
  try {
    await link(path, backup);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
  }
  // File systems without hard links, and files of other users.
  await copyFile(path, backup);
  return true;
}

/** In the same directory, so that a rename can take it to `path`. */
const temporaryPathBeside = (path: string) => join(dirname(path), `.agentcli-${Math.random().toString(36).slice(2)}`);
