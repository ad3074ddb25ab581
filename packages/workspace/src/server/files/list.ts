// Lists a directory in a steady order: by name, each directory right before what is in it.
import type { Dirent } from "node:fs";
import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ListRequest, ListResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { errnoOf, fileFault, pathFaultOf } from "./fault.ts";
import { findByGlob } from "./find.ts";
import { type IgnoreRules, ignoreRulesIn } from "./gitignore.ts";
import { inaccessibleCodes, readIfAccessible, readSorted, visibleChildren } from "./tree.ts";

type Entries = Extract<ListResult, { kind: "entries" }>;
type Entry = Entries["entries"][number];

export async function listDirectory(scope: FileScope, request: ListRequest): Promise<ListResult> {
  const { path, depth = 1, limit = 500, glob } = request;
  const top = resolve(scope.root, path);
  try {
    if (glob !== undefined) return await findByGlob(top, { path, glob, limit });
    const rules = await ignoreRulesIn(top);
    const { shown, ignored } = await visibleChildren(top, await readSorted(top), rules);
    const tree = await readLevels(top, shown, { depth, limit, rules });
    const entries: Entry[] = [];
    const omitted = await take(tree, limit, { prefix: "", directory: top, entries });
    const cut = omitted > 0 || entries.some((entry) => entry.omitted !== undefined);
    return {
      kind: "entries",
      entries,
      cut,
      ...(omitted > 0 && { omitted }),
      ...(ignored.length > 0 && { ignored: ignored.slice(0, maxIgnoredNames) }),
    };
  } catch (error) {
    const fault = errnoOf(error) === "ENOTDIR" ? notADirectory : pathFaultOf(error);
    return fileFault("list", path, fault);
  }
}

const maxIgnoredNames = 20;

interface Node {
  child: Dirent;
  children: Node[];
}

interface Levels {
  depth: number;
  limit: number;
  rules: IgnoreRules;
}

/** Of each directory as much as could be shown at best: one that is large enough alone is not entered further. */
async function readLevels(directory: string, children: Dirent[], { depth, limit, rules }: Levels): Promise<Node[]> {
  const nodes: Node[] = children.map((child) => ({ child, children: [] }));
  if (depth === 1 || nodes.length >= limit) return nodes;
  for (const node of nodes) {
    if (!node.child.isDirectory()) continue;
    const at = join(directory, node.child.name);
    const inside = await rules.enter(at);
    const { shown } = await visibleChildren(at, await readIfAccessible(at), inside);
    node.children = await readLevels(at, shown, { depth: depth - 1, limit: limit - nodes.length, rules: inside });
  }
  return nodes;
}

interface Listing {
  prefix: string;
  directory: string;
  entries: Entry[];
}

/** Every entry of a directory comes before the contents of any. Returns how many entries are left out. */
async function take(nodes: Node[], room: number, { prefix, directory, entries }: Listing): Promise<number> {
  const shown = nodes.slice(0, room);
  const shares = fairShares(
    shown.map((node) => countOf(node.children)),
    room - shown.length,
  );
  for (const [index, { child, children }] of shown.entries()) {
    const path = prefix + child.name;
    const at = join(directory, child.name);
    const entry: Entry = { path, kind: kindOf(child), size: child.isFile() ? await sizeOf(at) : null };
    entries.push(entry);
    const omitted = await take(children, shares[index] ?? 0, { prefix: `${path}/`, directory: at, entries });
    if (omitted > 0) entry.omitted = omitted;
  }
  return nodes.length - shown.length;
}

/** Everyone gets the same; what one does not need goes to the others. */
export function fairShares(needs: number[], room: number): number[] {
  const shares = needs.map(() => 0);
  const bySize = needs.map((need, index) => ({ need, index })).sort((left, right) => left.need - right.need);
  let left = room;
  bySize.forEach(({ need, index }, position) => {
    const share = Math.min(need, Math.floor(left / (bySize.length - position)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}

const countOf = (nodes: Node[]): number => nodes.reduce((sum, { children }) => sum + 1 + countOf(children), 0);

function kindOf(child: Dirent): Entry["kind"] {
  if (child.isFile()) return "file";
  if (child.isDirectory()) return "directory";
  return child.isSymbolicLink() ? "symlink" : "other";
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await lstat(file)).size;
  } catch (error) {
    if (inaccessibleCodes.has(errnoOf(error))) return null;
    throw error;
  }
}

const notADirectory = { code: "not-a-directory", reason: "it is not a directory" } as const;
