// The objects of the commit that a hand-off has just written, without running git: most are a few small files.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  entriesOf,
  formatPack,
  type GitObject,
  type Pack,
  parseCommit,
  readLooseObject,
  valuesOf,
} from "../git/index.ts";

export interface NewCommit {
  /** A git directory of the host. */
  directory: string;
  commit: string;
  /** The target has all objects of these commits. */
  known: string[];
}

/** For the repository whose objects the git directory borrows. Null where git has to look for the objects. */
export async function packForOwner(target: string, commit: NewCommit): Promise<Pack | null> {
  const borrowed = await readFile(join(commit.directory, "objects/info/alternates"), "utf8").catch(() => "");
  return borrowed === `${join(target, "objects")}\n` ? packNew(commit, () => false) : null;
}

/**
 * For a target that has what the parent of the commit has; of what is borrowed it may lack what came later. `changed` are the
 * paths in which the two differ, bytes as latin1 characters. Null where git has to look for the objects.
 */
export function packForAgent(commit: NewCommit, changed: string[]): Promise<Pack | null> {
  const paths = new Set(changed.flatMap((path) => [...pathAndParents(path)]));
  return packNew(commit, (path) => paths.has(path));
}

function* pathAndParents(path: string): Generator<string> {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) yield path.slice(0, end);
}

/** `mustCopy` says of which paths the objects may not be missing. */
async function packNew(commit: NewCommit, mustCopy: (path: string) => boolean): Promise<Pack | null> {
  const objects = await openObjects(commit.directory);
  const tree = objects && treeOfNew(objects, commit);
  if (!objects || !tree) return null;
  const open = [{ tree, path: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const { name, object, isTree } of entriesOf(next.tree)) {
      const path = next.path === "" ? name : `${next.path}/${name}`;
      const found = objects.add(object);
      if (objects.isFull() || (found === null && mustCopy(path))) return null;
      if (found !== null && isTree) open.push({ tree: found, path });
    }
  return formatPack(objects.added());
}

function treeOfNew(objects: NewObjects, { commit, known }: NewCommit): GitObject | null {
  const written = objects.add(commit);
  const parsed = written && parseCommit(written.content.toString("latin1"));
  if (!parsed || !valuesOf(parsed, "parent").every((parent) => known.includes(parent))) return null;
  return objects.add(valuesOf(parsed, "tree")[0] ?? "");
}

interface NewObjects {
  /** Null if it is not a file of its own. */
  add(name: string): GitObject | null;
  added(): GitObject[];
  isFull(): boolean;
}

/** More are left to git. */
const maxObjects = 100;
const maxBytes = 256 * 1024;

/** Null where there are packs: what an agent has committed itself came as one. */
async function openObjects(directory: string): Promise<NewObjects | null> {
  const files = await readdir(join(directory, "objects"), { recursive: true });
  if (files.some((name) => name.endsWith(".pack"))) return null;
  const names = new Set(files.map((name) => name.replace("/", "")));
  const found = new Map<string, GitObject>();
  let bytes = 0;
  let isFull = false;
  return {
    add(name) {
      const known = found.get(name);
      if (known !== undefined || !names.has(name)) return known ?? null;
      const object = readLooseObject({ directory }, name, maxBytes);
      bytes += object?.content.length ?? 0;
      if (object !== null) found.set(name, object);
      isFull ||= object === null || bytes > maxBytes || found.size > maxObjects;
      return object;
    },
    added: () => [...found.values()],
    isFull: () => isFull,
  };
}
