// The repositories below the writable roots that exist when a sandbox is opened. Git outside enters those that an index
// names; people and editors enter the others.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { findGitDirectory, findRepositoryRoot, readRegularFile } from "../../git/index.ts";
import { contains } from "../../paths.ts";
import { readGitlinks } from "../gitlinks.ts";
import { type DirectoryPath, type Repository, type RepositorySearch, searchRepositories } from "./search.ts";

export interface NestedRepositories extends RepositorySearch {
  /** To be protected: every gitlink of an index, and the repositories found. */
  protected: string[];
  /** To be protected: folders of agentcli's settings. */
  settings: string[];
  /** To be protected, and not to be created: what makes git run programs in a bare repository, or in one that a `.git` leads to. */
  bareSettings: string[];
}

/** About 4 ms; a search of 200,000 files takes 300. What it misses is compared with the clock when the run ends. */
const maxEntriesAtStart = 4_000;
/** Mounts take quadratic time. Gitlinks are always protected. */
const maxFound = 64;

export async function findNestedRepositories(roots: string[]): Promise<NestedRepositories> {
  const gitlinks = roots.flatMap(gitlinksAbove).filter((path) => roots.some((root) => contains(root, path)));
  const search = await searchRepositories(roots, { maxEntries: maxEntriesAtStart });
  const found = search.repositories
    .filter(({ entry }) => entry === ".git")
    .map(({ directory }) => directory)
    .filter(isProtectable)
    .slice(0, maxFound);
  const all = new Set([...gitlinks, ...found]);
  // A set that grows while it is read: the submodules of submodules.
  for (const directory of all) for (const path of gitlinksIn(directory)) all.add(path);
  return {
    ...search,
    protected: [...all].filter((path) => !roots.includes(path)),
    settings: search.repositories.flatMap(protectableSettings).slice(0, maxFound),
    bareSettings: search.repositories.flatMap(settingsOfBare).slice(0, maxFound),
  };
}

/** Where git of the user enters now, whatever a search has found: an index may be one that a command wrote. */
export function indexedRepositories(roots: string[], others: string[]): string[] {
  const gitlinks = (directory: string) => gitlinksIn(directory, Number.POSITIVE_INFINITY);
  const all = new Set([...roots.flatMap((root) => gitlinks(findRepositoryRoot(root) ?? root)), ...others]);
  for (const directory of all) for (const path of gitlinks(directory)) all.add(path);
  return [...all].filter((path) => roots.some((root) => contains(root, path) && path !== root));
}

/** Not a link: a mount covers its target instead. */
function protectableSettings({ directory, entry }: Repository): string[] {
  if (entry !== ".agentcli" || typeof directory !== "string") return [];
  const path = join(directory, entry);
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? [path] : [];
}

/** Objects and branches stay writable: commands push to repositories of tests. */
function settingsOfBare({ directory, entry }: Repository): string[] {
  if (entry !== "HEAD" || typeof directory !== "string") return [];
  const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const names = ["config", ...(usesWorktreeConfig(directory) ? ["config.worktree"] : []), "hooks"];
  return names.map((name) => join(directory, name)).filter((path) => !isLink(path));
}

/** Only then does git read the file; where nothing may be created it would fail for another reason. */
const usesWorktreeConfig = (directory: string): boolean =>
  /worktreeconfig/i.test(readRegularFile(join(directory, "config"))?.toString("latin1") ?? "");

/** A mount needs a name that is text, and covers the target of a link instead of the link. */
const isProtectable = (directory: DirectoryPath): directory is string =>
  typeof directory === "string" && !lstatSync(join(directory, ".git"), { throwIfNoEntry: false })?.isSymbolicLink();

/** Of the repository that the root is, or is in. */
function gitlinksAbove(root: string): string[] {
  const top = findRepositoryRoot(root);
  const gitDirectory = top && findGitDirectory(top);
  if (!top || !gitDirectory) return [];
  try {
    return readGitlinks(gitDirectory).map((path) => join(top, textOf(path)));
  } catch (error) {
    throw new SandboxUnavailable(
      `The submodules of ${top} cannot be protected: ${(error as Error).message}`,
      'Run read-only, or set sandbox_workspace_write.nested_repositories = "allowed".',
    );
  }
}

/** Git cannot follow gitlinks of an index that cannot be read; a run before this one may have made it so. */
function gitlinksIn(directory: string, limit = maxFound): string[] {
  const gitDirectory = findGitDirectory(directory);
  if (gitDirectory === undefined) return [];
  try {
    const paths = readGitlinks(gitDirectory).map((path) => join(directory, textOf(path)));
    return paths.filter((path) => contains(directory, path)).slice(0, limit);
  } catch {
    return [];
  }
}

function textOf(path: Buffer): string {
  const text = path.toString();
  if (Buffer.from(text).equals(path)) return text;
  throw new Error(`the name of ${JSON.stringify(text)} is not text.`);
}
