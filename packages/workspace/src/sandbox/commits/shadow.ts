// The shadow of a protected repository: commands see a writable copy of its small files at the same path. The real one
// is mounted read-only inside the copy, and the host imports what is safe.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, findRepositoryRoot } from "../../git/index.ts";
import { contains } from "../../paths.ts";
import { isMountPoint } from "../mount-points.ts";
import { insidePath } from "../placement.ts";
import type { SandboxPolicy } from "../policy.ts";

export interface Shadow {
  /** Top of the working tree. */
  root: string;
  /** The git directory of this working tree. */
  gitDirectory: string;
  /** Shared by all working trees of the repository. The copy is mounted here. */
  commonDirectory: string;
  /** Directories of the repository that are not copied but mounted read-only: hooks, submodules, large files. */
  mountedDirectories: string[];
  /** Mount points in the working tree that git must not see, as patterns of an ignore file at its top. */
  excluded: string[];
  /** What commands cannot read in the working tree, relative to its top: git takes it for unchanged. */
  hidden: string[];
  /** Other object directories that the real repository uses. */
  alternates: string[];
}

/** The directory inside the shadow where the real repository is mounted. */
export const hostDirectory = "host";
/** The directory inside the shadow for the state of the last synchronization. */
export const stateDirectory = "agentcli";

/** What the copy has itself, or what commands have no use for. */
const copiedDirectories = new Set([
  ...["objects", "refs", "logs", "info", "worktrees", "rebase-merge", "rebase-apply", "sequencer", "reftable"],
  ...[hostDirectory, stateDirectory],
]);

/** Each is copied when the sandbox opens. Other repositories below a writable root are read-only. */
const maxNested = 16;

/** None unless the policy lets commands commit. */
export function findShadows(policy: SandboxPolicy): Shadow[] {
  if (policy.mode !== "workspace-write" || policy.git !== "commit") return [];
  const roots = [policy.root, ...policy.writableRoots];
  // What only contains them is not shown to commands, and is not theirs to change.
  const above = policy.view === "system" ? () => undefined : findRepositoryRoot;
  const own = roots.flatMap((root) => findShadow(above(root) ?? root, policy) ?? []);
  const within = [...roots, ...own.map(({ commonDirectory }) => commonDirectory)];
  // A `.git` file below could lead to a repository that is not the user's choice.
  const nested = policy.protectedRepositories
    .slice(0, maxNested)
    .flatMap((root) => findShadow(root, policy) ?? [])
    .filter(({ commonDirectory }) => within.some((directory) => contains(directory, commonDirectory)));
  const shadows = [...own, ...nested];
  return shadows.filter(({ commonDirectory }, index) => isFirst(commonDirectory, shadows.slice(0, index)));
}

/** With the paths that scripts inside the sandbox use. */
export function shadowInside(shadow: Shadow, { placement }: SandboxPolicy): Shadow {
  const inside = (path: string) => insidePath(placement, path);
  return {
    ...shadow,
    root: inside(shadow.root),
    gitDirectory: inside(shadow.gitDirectory),
    commonDirectory: inside(shadow.commonDirectory),
    alternates: shadow.alternates.map(inside),
  };
}

const isFirst = (directory: string, earlier: Shadow[]) =>
  !earlier.some(({ commonDirectory }) => commonDirectory === directory);

function findShadow(root: string, policy: SandboxPolicy): Shadow | undefined {
  const located = findGitDirectory(root);
  if (located === undefined) return undefined;
  const gitDirectory = realpathSync(located);
  const commonDirectory = realpathSync(findCommonDirectory(gitDirectory));
  if (!contains(commonDirectory, gitDirectory)) return undefined;
  const hidden = hiddenBelow(root, policy);
  return {
    root,
    gitDirectory,
    commonDirectory,
    mountedDirectories: readDirectories(commonDirectory).filter((name) => !copiedDirectories.has(name)),
    alternates: readAlternates(join(commonDirectory, "objects")),
    excluded: [...findMountPoints(root, policy), ...hidden.map(literalPattern)],
    hidden,
  };
}

/** A protected name that is missing is a mount point inside: git could not remove it. */
const findMountPoints = (root: string, { writableRoots, protectedNames, ...policy }: SandboxPolicy): string[] =>
  [policy.root, ...writableRoots]
    .filter((directory) => contains(root, directory))
    .flatMap((directory) => protectedNames.map((name) => join(directory, name)))
    .filter((path) => !existsSync(path) || isMountPoint(path))
    .map((path) => `/${relative(root, path)}`);

/** A name with a line break could not be passed on; git then says itself that it cannot read the file. */
const hiddenBelow = (root: string, { hidden }: SandboxPolicy): string[] =>
  hidden
    .filter((path) => path !== root && contains(root, path) && !path.includes("\n"))
    .map((path) => relative(root, path));

const literalPattern = (path: string): string => `/${path.replace(/[\\*?[]/g, "\\$&").replace(/ $/, "\\ ")}`;

const readDirectories = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const maxAlternates = 16;

/** With those of the alternates themselves, as absolute paths. */
function readAlternates(objects: string): string[] {
  const found: string[] = [];
  const pending = [objects];
  while (pending.length > 0 && found.length < maxAlternates) {
    const next = listedAlternates(pending.shift() ?? "").filter((path) => !found.includes(path));
    found.push(...next);
    pending.push(...next);
  }
  return found;
}

function listedAlternates(objects: string): string[] {
  try {
    const lines = readFileSync(join(objects, "info/alternates"), "utf8").split("\n");
    return lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => resolve(objects, line));
  } catch {
    return [];
  }
}
