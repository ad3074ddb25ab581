// What a sandbox does about repositories and settings of agentcli below its writable roots: protect those that exist, watch for others.
import { basename, dirname, join, relative } from "node:path";
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import { contains, resolveExisting } from "../../paths.ts";
import type { BackEnd } from "../back-end.ts";
import type { SandboxPolicy } from "../policy.ts";
import { type ConfiguredPath, configuredPaths, isLink, linksOn, stampOf } from "./configured.ts";
import type { GitVariables } from "./git-settings.ts";
import { findNestedRepositories } from "./nested.ts";
import { openUnfinished } from "./unfinished.ts";
import { type RepositoryWatch, watchRepositories } from "./watch.ts";

export interface NestedProtection {
  policy: SandboxPolicy;
  watch: RepositoryWatch;
  /** What git reads or runs because settings name it. */
  configured: ConfiguredPath[];
}

/** Of a policy that lets commands write. */
export async function protectNested(
  policy: SandboxPolicy,
  backEnd: BackEnd,
  variables: GitVariables = {},
): Promise<NestedProtection> {
  const roots = [...new Set([policy.root, ...policy.writableRoots].flatMap(resolveExisting))];
  const nested = await findNestedRepositories(roots);
  const isProtected = policy.nestedRepositories === "protected";
  const named = [...roots, ...nested.protected].flatMap((directory) => configuredPaths(directory, variables));
  const withNamed = withConfigured(policy, named, roots);
  // A link cannot be mounted, only what it leads to.
  const links = named.flatMap((each) => linksOn(each).map((path) => ({ tree: each.tree, path })));
  const bare = isProtected ? nested.bareSettings : [];
  const isThere = (path: string) => resolveExisting(path).length > 0;
  const free = named.filter(({ path }) => isFreePackage(path));
  return {
    configured: named,
    policy: {
      ...withNamed,
      protectedPaths: [...withNamed.protectedPaths, ...(isProtected ? nested.settings : []), ...bare.filter(isThere)],
      absentPaths: [...withNamed.absentPaths, ...bare.filter((path) => !isThere(path))],
      protectedRepositories: isProtected ? nested.protected : [],
    },
    watch: withConfiguredReport(
      watchRepositories({
        roots,
        nested,
        rootRepositories: backEnd.kind === "landlock" ? "watched" : "protected",
        newRepositories: isProtected ? "set-aside" : "kept",
      }),
      [...(backEnd.kind === "landlock" ? named : free), ...links].filter(({ path }) =>
        isIn(roots, realOfMissing(path)),
      ),
    ),
  };
}

/** Landlock cannot protect what the settings of a repository name, packages stay free, links can be replaced: a change is reported, once. */
function withConfiguredReport(watch: RepositoryWatch, named: ConfiguredPath[]): RepositoryWatch {
  const byPath = new Map(named.map((each) => [each.path, each]));
  const stamps = [...byPath.values()].map((each) => ({ ...each, stamp: stampOf(each.path) }));
  const findChanged = (): string[] =>
    stamps.flatMap((known) => {
      const { tree, path, stamp } = known;
      known.stamp = stampOf(path);
      return known.stamp === stamp ? [] : [relative(tree, path)];
    });
  return {
    ...watch,
    findChanges: async () => [...(await watch.findChanges()), ...findChanged().map(describeChanged)],
  };
}

const describeChanged = (path: string): string =>
  `This run changed ${JSON.stringify(path)}, which git reads or runs because settings of the repository name it. Check it before you use git there.`;

/** What does not exist among the packages, which have to be installed. */
const isFreePackage = (path: string): boolean =>
  path.split("/").includes("node_modules") && resolveExisting(path).length === 0;

/** What does not exist cannot be created; directly below a root its name is protected, which git ignores then. */
function withConfigured(policy: SandboxPolicy, named: ConfiguredPath[], roots: string[]): SandboxPolicy {
  const protectedPaths = new Set(policy.protectedPaths);
  const protectedNames = new Set(policy.protectedNames);
  const absentPaths = new Set(policy.absentPaths);
  for (const { path } of named) {
    const [real] = resolveExisting(path);
    const missing = realOfMissing(path);
    if (real !== undefined && isIn(roots, real)) protectedPaths.add(real);
    if (real !== undefined || !isIn(roots, missing) || isLink(missing) || isFreePackage(path)) continue;
    if (roots.includes(dirname(missing))) protectedNames.add(basename(missing));
    else absentPaths.add(missing);
  }
  const paths = { protectedPaths: [...protectedPaths], absentPaths: [...absentPaths] };
  return { ...policy, ...paths, protectedNames: [...protectedNames] };
}

/** Without links in the directories above it. */
function realOfMissing(path: string): string {
  const parent = dirname(path);
  const [real] = resolveExisting(parent);
  return join(real ?? (parent === path ? parent : realOfMissing(parent)), basename(path));
}

const isIn = (roots: string[], path: string): boolean => roots.some((root) => contains(root, path));

/**
 * Searches only if a process may have run or a file was changed since the last search. The first command starts to list the workspace,
 * which goes on while it runs and while the model writes its reply.
 */
export function withRepositoryWatch(
  workspace: OpenedWorkspace,
  watch: RepositoryWatch,
  unfinishedRuns: string | undefined,
): OpenedWorkspace {
  const unfinished = openUnfinished(unfinishedRuns, watch.describe);
  let isUsed = false;
  /** What was started once may still run. */
  let mayRun = false;
  let isClosed = false;
  let preparing: { done: Promise<void>; stop: AbortController } | undefined;
  function prepareOnce(): void {
    if (preparing) return;
    const stop = new AbortController();
    // The search itself reports what cannot be read.
    preparing = { stop, done: watch.prepare(stop.signal).catch(() => {}) };
  }
  async function stopPreparing(): Promise<void> {
    preparing?.stop.abort();
    await preparing?.done;
  }
  return {
    ...workspace,
    exec(request, onChunk, signal) {
      unfinished.begin();
      isUsed = true;
      mayRun = true;
      const result = workspace.exec(request, onChunk, signal);
      prepareOnce();
      return result;
    },
    edit(request) {
      unfinished.begin();
      isUsed = true;
      return workspace.edit(request);
    },
    async release(ids) {
      mayRun &&= ids.length > 0;
      await workspace.release(ids).catch((error: unknown) => {
        mayRun = true;
        throw error;
      });
    },
    async findRepositoryChanges() {
      if (!isUsed) return [];
      isUsed = mayRun;
      await stopPreparing();
      const changes = await watch.findChanges();
      if (isClosed) unfinished.end();
      return changes;
    },
    async close() {
      await stopPreparing();
      await workspace.close();
      mayRun = false;
      isClosed = true;
      // Otherwise the search is still to come.
      if (!isUsed) unfinished.end();
    },
  };
}
