// Finds files by a glob below a directory, sorted by path.
import { join, relative } from "node:path";
import type { ListResult } from "@agentcli/protocol";
import { compileGlob } from "../../ignore/index.ts";
import { fileFault } from "./fault.ts";
import { type IgnoreRules, ignoreRulesIn } from "./gitignore.ts";
import { readIfAccessible, readSorted, visibleChildren } from "./tree.ts";

interface GlobRequest {
  path: string;
  glob: string;
  limit: number;
}

export async function findByGlob(
  top: string,
  { path, glob, limit }: GlobRequest,
  timeoutMs = 10_000,
): Promise<ListResult> {
  const matches = compileGlob(glob.replace(/^(?:\.\/)+/, ""));
  if (matches === null)
    return fileFault("list", path, {
      code: "invalid",
      reason: `the glob ${glob} is not valid (a bracket is not closed)`,
    });
  await readSorted(top);
  const deadline = performance.now() + timeoutMs;
  const found: Extract<ListResult, { kind: "entries" }> = { kind: "entries", entries: [], cut: false };
  for await (const file of filesUnder(top, await ignoreRulesIn(top), { links: true })) {
    const name = relative(top, file);
    if (found.entries.length === limit || performance.now() > deadline) return { ...found, cut: true };
    if (matches(name)) found.entries.push({ path: name, kind: "file", size: null });
  }
  return found;
}

interface FileChoice {
  /** Names that are passed over. */
  skipped?: string[];
  links: boolean;
}

/** Regular files, and links if wanted, without what git ignores. */
export async function* filesUnder(directory: string, rules: IgnoreRules, choice: FileChoice): AsyncGenerator<string> {
  const { shown } = await visibleChildren(directory, await readIfAccessible(directory), rules);
  for (const child of shown) {
    if (choice.skipped?.includes(child.name)) continue;
    const path = join(directory, child.name);
    if (child.isDirectory()) yield* filesUnder(path, await rules.enter(path), choice);
    else if (child.isFile() || (choice.links && child.isSymbolicLink())) yield path;
  }
}
