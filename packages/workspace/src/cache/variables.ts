// The variables that lead build tools to the cache, and to what the user has already, which they can only read. Pure, except
// for looking whether that exists.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../environment/index.ts";

export interface CacheOptions {
  /** Where commands can write. */
  directory: string;
  /** Of tools, without these variables. */
  env: Environment;
  network: "on" | "off";
}

/** What the user has set wins. */
export function cacheVariables({ directory, env, network }: CacheOptions): Environment {
  const inCache = (name: string) => join(directory, name);
  const home = env.HOME ?? "/";
  return unlessSet(env, {
    GOCACHE: inCache("go-build"),
    GOMODCACHE: inCache("go-mod"),
    ...goProxy(env, home, network),
    CARGO_HOME: inCache("cargo"),
    npm_config_cache: inCache("npm"),
    pnpm_config_store_dir: inCache("pnpm"),
    YARN_CACHE_FOLDER: inCache("yarn"),
    YARN_GLOBAL_FOLDER: inCache("yarn-berry"),
    PIP_CACHE_DIR: inCache("pip"),
    UV_CACHE_DIR: inCache("uv"),
    GRADLE_USER_HOME: inCache("gradle"),
    ...readable("GRADLE_RO_DEP_CACHE", join(home, ".gradle/caches"), "modules-2"),
    MAVEN_ARGS: mavenArguments(inCache("maven"), home, network),
    // Before 3.9, as in Debian, Maven does not know MAVEN_ARGS.
    MAVEN_OPTS: `-Dmaven.repo.local=${inCache("maven")}`,
    CCACHE_DIR: inCache("ccache"),
    SCCACHE_DIR: inCache("sccache"),
  });
}

/** Where nothing may be kept: only what cannot work without a cache of its own. */
export const temporaryCacheVariables = (env: Environment, temporary: string): Environment =>
  unlessSet(env, { GOCACHE: join(temporary, "go-build"), CCACHE_DIR: join(temporary, "ccache") });

/** Modules that the user has downloaded are served from there, read-only, and unpacked into the cache. */
function goProxy(env: Environment, home: string, network: CacheOptions["network"]): Environment {
  const downloads = join(env.GOPATH?.split(":")[0] || join(home, "go"), "pkg/mod/cache/download");
  if (!existsSync(downloads)) return {};
  return { GOPROXY: `file://${downloads},${network === "off" ? "off" : "https://proxy.golang.org,direct"}` };
}

const mavenArguments = (repository: string, home: string, network: CacheOptions["network"]): string =>
  [
    `-Dmaven.repo.local=${repository}`,
    ...(existsSync(join(home, ".m2/repository")) ? [`-Dmaven.repo.local.tail=${join(home, ".m2/repository")}`] : []),
    ...(network === "off" ? ["--offline"] : []),
  ].join(" ");

const readable = (name: string, directory: string, entry: string): Environment =>
  existsSync(join(directory, entry)) ? { [name]: directory } : {};

function unlessSet(env: Environment, variables: Environment): Environment {
  const names = new Set(Object.keys(env).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.has(name.toLowerCase())));
}
