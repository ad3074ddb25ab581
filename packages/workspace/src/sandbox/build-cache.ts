// Gives commands the build cache of their project: the variables that lead to it, and links to what the user has downloaded.
import { cacheVariables, openSeed, prepareCache, type Seed, temporaryCacheVariables } from "../cache/index.ts";
import { type Environment, withOfflineVariables } from "../environment/index.ts";
import type { OpenedWorkspace } from "../lifecycle/index.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

const seedTimeoutMs = 30_000;

interface CachedLaunch {
  requested: SandboxPolicy;
  options: WorkspaceOptions;
  seed?: Seed;
}

/** Variables for tools that have no network, and for those that need a cache. */
export function withCache(policy: SandboxPolicy, options: WorkspaceOptions): CachedLaunch {
  const isOffline = reachesNoHost(policy);
  const withEnv = (env: Environment) => ({ ...options, env: isOffline ? withOfflineVariables(env) : env });
  const { cacheDirectory, env } = options;
  if (cacheDirectory === undefined) return { requested: policy, options: withEnv(env) };
  const cache = supportsCache(policy, options) ? prepareCache(cacheDirectory, policy.root) : undefined;
  if (cache === undefined) return { requested: policy, options: withEnv(env) };
  const variables = cacheVariables({ directory: cache.directory, env, network: isOffline ? "off" : "on" });
  const seed = openSeed(cache, variables, env.HOME ?? "/");
  return {
    requested: { ...policy, cache: cache.directory },
    options: withEnv({ ...env, ...variables }),
    ...(seed && { seed }),
  };
}

/** Nothing is kept for read-only. Seatbelt has not been tried with it. */
const supportsCache = ({ mode }: SandboxPolicy, { backEnd }: WorkspaceOptions) =>
  mode === "workspace-write" && backEnd?.kind !== "seatbelt";

/** Without a cache that is kept, some tools still need one. */
export const withTemporaryCache = (env: Environment, { cache }: SandboxPolicy, { cacheDirectory }: WorkspaceOptions) =>
  cache === null && cacheDirectory !== undefined
    ? { ...env, ...temporaryCacheVariables(env, env.TMPDIR ?? "/tmp") }
    : env;

/** Links to what the user has are made when the first command starts. */
export function withSeed(workspace: OpenedWorkspace, { script, settled }: Seed): OpenedWorkspace {
  let seeded: Promise<void> | undefined;
  const id = "seed-of-build-caches";
  const seed = async () => {
    const start = { argv: ["bash", "-c", script], timeoutMs: seedTimeoutMs };
    await workspace.exec({ id, start }, () => {}, new AbortController().signal);
    await workspace.release([id]);
    settled();
  };
  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      if (request.start !== undefined) {
        seeded ??= seed();
        await seeded;
      }
      return workspace.exec(request, onChunk, signal);
    },
  };
}

const reachesNoHost = ({ network, allowedDomains }: SandboxPolicy) =>
  network === "off" || (network === "proxy" && allowedDomains.length === 0);
