// Resolves a path of a patch, and decides whether writing there is allowed.
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from "node:path";
import type { FileScope } from "../file-scope.ts";
import { errnoOf, pathFaultOf } from "../files/index.ts";
import { Refusal } from "./refusal.ts";

export interface Target {
  /** As given, without detours: the name in answers and messages. */
  displayPath: string;
  /** The directory entry itself, its parents free of symlinks: what is deleted. */
  entry: string;
  /** The entry with a symlink followed: what is read and written. */
  file: string;
}

export async function findTarget(scope: FileScope, path: string): Promise<Target> {
  const displayPath = validatePath(path);
  const absolute = resolve(scope.root, displayPath);
  if (displayPath === ".." || displayPath.startsWith("../")) {
    throw new Refusal(`${path} climbs out of the workspace; use a path inside ${scope.root}`);
  }
  const entry = join(await resolveLinks(dirname(absolute), displayPath), basename(absolute));
  return { displayPath, entry, file: await resolveLinks(absolute, displayPath) };
}

/** Throws unless `real`, a path without symlinks that `target` led to, may be written. */
export async function assertWritable(scope: FileScope, target: Target, real: string): Promise<void> {
  const everywhere = scope.writable === "anywhere" && isAbsolute(target.displayPath);
  if (everywhere) return scope.asWritten === true ? assertAsWritten(target, real) : undefined;
  const allowed = scope.writable === "anywhere" ? [scope.root] : scope.writable;
  const roots = await Promise.all(allowed.map(realRoot));
  if (roots.some((root) => isInside(real, root))) return;
  const where = real === resolve(scope.root, target.displayPath) ? "" : ` leads to ${real} and`;
  throw new Refusal(`${target.displayPath}${where} lies outside the writable directories (${allowed.join(", ")})`);
}

function assertAsWritten({ displayPath }: Target, real: string): void {
  if (real === displayPath) return;
  throw new Refusal(`${displayPath} leads to ${real} and was approved by its own name; edit ${real} if that is meant`);
}

function validatePath(path: string): string {
  if (path.trim() === "") throw new Refusal("an edit names no file; give each edit a path");
  if (path.includes("\0")) throw new Refusal(`the path ${JSON.stringify(path)} contains a NUL byte`);
  if (path.endsWith("/")) throw new Refusal(`${path} names a directory; give the path of a file`);
  return normalize(path);
}

/** The real path; parts that do not exist yet are kept as they are. */
async function resolveLinks(path: string, displayPath: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT")
      throw new Refusal(`${displayPath} cannot be reached: ${pathFaultOf(error).reason}`);
  }
  // What it points to could only be guessed, and a guess could lead out of the workspace.
  if (await exists(path)) throw new Refusal(`${displayPath} leads through ${path}, a symbolic link to nothing`);
  return join(await resolveLinks(dirname(path), displayPath), basename(path));
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

/** A root that does not exist or is inaccessible is compared by name. */
const realRoot = (root: string) => realpath(root).catch(() => resolve(root));

function isInside(path: string, root: string): boolean {
  const difference = relative(root, path);
  return difference !== ".." && !difference.startsWith("../");
}
