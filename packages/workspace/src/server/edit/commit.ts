// Carries out a plan. A failure anywhere leaves every file, mode and directory as it was, and no temporary file.
import type { Stats } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf, troubleOf } from "../files/fault.ts";
import type { Effect } from "./plan.ts";
import { Refusal } from "./refusal.ts";

type Write = Extract<Effect, { kind: "write" }>;
type Undo = (() => Promise<void>)[];

export async function commit(effects: Effect[]): Promise<void> {
  const undo: Undo = [];
  const kept = await perform(effects, undo);
  for (const backup of kept) await rm(backup, { force: true });
}

/** Returns the backups of what was there before. */
async function perform(effects: Effect[], undo: Undo): Promise<string[]> {
  // New contents are on disk before the first file changes: a full disk or a closed directory shows up early.
  const staged = new Map<Effect, string>();
  const backups: string[] = [];
  for (const effect of effects) {
    if (effect.kind === "write") staged.set(effect, await attempt(effect, undo, () => stage(effect, undo)));
  }
  for (const effect of effects) {
    if (effect.kind === "remove") backups.push(await attempt(effect, undo, () => setAside(effect.path, undo)));
  }
  for (const [effect, temporary] of staged) {
    const backup = await attempt(effect, undo, () => putInPlace(temporary, effect.path, undo));
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
    throw new Refusal(`Failed to ${verb} ${effect.shown}: ${troubleOf(error).reason}`, { cause: error });
  }
}

async function undoAll(undo: Undo, cause: unknown): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.reverse()) await step().catch((error) => failures.push(error));
  if (failures.length === 0) return;
  throw new Error(`The patch failed and could not be undone in full: ${failures.join("; ")}`, { cause });
}

async function stage(write: Write, undo: Undo): Promise<string> {
  await makeDirectory(dirname(write.path), undo);
  const temporary = nameBeside(write.path);
  const handle = await open(temporary, "wx", write.like === null ? 0o666 : 0o600);
  undo.push(() => rm(temporary, { force: true }));
  try {
    await handle.writeFile(write.bytes);
    if (write.like !== null) await takeAfter(handle, write.like);
  } finally {
    await handle.close();
  }
  return temporary;
}

// One level at a time: a recursive mkdir that fails half-way does not say what it made.
async function makeDirectory(directory: string, undo: Undo): Promise<void> {
  try {
    await mkdir(directory);
    undo.push(() => rmdir(directory));
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return;
    if (errnoOf(error) !== "ENOENT") throw error;
    await makeDirectory(dirname(directory), undo);
    await makeDirectory(directory, undo);
  }
}

/** Set-id bits are left out, as the kernel does on every write by an ordinary user. */
async function takeAfter(handle: FileHandle, like: Stats): Promise<void> {
  if (process.getuid?.() === 0) await takeOwner(handle, like);
  await handle.chmod(like.mode & 0o777);
}

async function takeOwner(handle: FileHandle, like: Stats): Promise<void> {
  try {
    await handle.chown(like.uid, like.gid);
  } catch (error) {
    // Root of a user namespace can give files only to users that are mapped into it.
    if (!["EPERM", "EINVAL"].includes(errnoOf(error) ?? "")) throw error;
  }
}

async function setAside(path: string, undo: Undo): Promise<string> {
  const backup = nameBeside(path);
  await rename(path, backup);
  undo.push(() => rename(backup, path));
  return backup;
}

async function putInPlace(temporary: string, path: string, undo: Undo): Promise<string | null> {
  const backup = nameBeside(path);
  undo.push(() => rm(backup, { force: true }));
  const replaced = await keepSecondName(path, backup);
  await rename(temporary, path);
  undo.push(() => (replaced ? rename(backup, path) : rm(path)));
  return replaced ? backup : null;
}

/** A second name rather than a rename: readers find the file at every moment. False when there is no such file. */
async function keepSecondName(path: string, backup: string): Promise<boolean> {
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
const nameBeside = (path: string) => join(dirname(path), `.agentcli-${Math.random().toString(36).slice(2)}`);
