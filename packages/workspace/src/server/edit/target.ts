// Decides where a path of a patch really leads, and whether writing there is allowed.
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from "node:path";
import { errnoOf, troubleOf } from "../files/fault.ts";
import type { Place } from "../place.ts";
import { Refusal } from "./refusal.ts";

export interface Target {
  /** As given, without detours: the name in answers and messages. */
  shown: string;
  /** The directory entry itself, its parents free of symlinks: what is deleted. */
  entry: string;
  /** The entry with a symlink followed: what is read and written. */
  file: string;
}

export async function findTarget(place: Place, path: string): Promise<Target> {
  const shown = checkedPath(path);
  const wanted = resolve(place.root, shown);
  if (shown === ".." || shown.startsWith("../")) {
    throw new Refusal(`${path} climbs out of the workspace; use a path inside ${place.root}`);
  }
  const entry = join(await resolveLinks(dirname(wanted), shown), basename(wanted));
  return { shown, entry, file: await resolveLinks(wanted, shown) };
}

/** Throws unless `real`, a path without symlinks that `target` led to, may be written. */
export async function mayWrite(place: Place, target: Target, real: string): Promise<void> {
  const everywhere = place.writable === "anywhere" && isAbsolute(target.shown);
  if (everywhere) return;
  const allowed = place.writable === "anywhere" ? [place.root] : place.writable;
  const roots = await Promise.all(allowed.map(realRoot));
  if (roots.some((root) => lies(real, root))) return;
  const where = real === resolve(place.root, target.shown) ? "" : ` leads to ${real} and`;
  throw new Refusal(`${target.shown}${where} lies outside the writable directories (${allowed.join(", ")})`);
}

function checkedPath(path: string): string {
  if (path.trim() === "") throw new Refusal("an edit names no file; give each edit a path");
  if (path.includes("\0")) throw new Refusal(`the path ${JSON.stringify(path)} contains a NUL byte`);
  if (path.endsWith("/")) throw new Refusal(`${path} names a directory; give the path of a file`);
  return normalize(path);
}

/** The real path; parts that do not exist yet are kept as they are. */
async function resolveLinks(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw new Refusal(`${shown} cannot be reached: ${troubleOf(error).reason}`);
  }
  // What it points to could only be guessed, and a guess could lead out of the workspace.
  if (await exists(path)) throw new Refusal(`${shown} leads through ${path}, a symbolic link to nothing`);
  return join(await resolveLinks(dirname(path), shown), basename(path));
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** A root that is not there, or closed to us, holds nothing that could be written: its name will do. */
const realRoot = (root: string) => realpath(root).catch(() => resolve(root));

function lies(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith("../");
}
