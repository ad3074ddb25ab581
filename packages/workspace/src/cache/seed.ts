// Fills a cache with links to what the user has downloaded already. Runs inside the sandbox: there the targets can be read but not
// changed, and a link that a command has put into the cache leads nowhere it could not go itself.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PreparedCache } from "./directory.ts";

export interface Seed {
  script: string;
  /** The script has run: it is not needed again until the user downloads something. */
  settled(): void;
}

/** Undefined if the user has nothing, or nothing new. Variables that are missing are set by the user, who needs no links. */
export function openSeed(cache: PreparedCache, variables: Record<string, string>, home: string): Seed | undefined {
  const state = JSON.stringify(stateOf(home));
  if (state === "[]" || state === readIfExists(cache.seedRecord)) return undefined;
  const parts = [
    ...(variables.CARGO_HOME ? [cargo] : []),
    ...(variables.npm_config_cache ? [npm] : []),
    ...(variables.GRADLE_USER_HOME ? [gradle] : []),
    ...(variables.PIP_CACHE_DIR ? [pip] : []),
  ];
  return {
    script: [links, ...parts, "true"].join("\n"),
    settled: () => writeFileSync(cache.seedRecord, state, { mode: 0o600 }),
  };
}

/** Directories that change whenever something is downloaded. */
function stateOf(home: string): [path: string, changed: number][] {
  const below = parents.flatMap((parent) => entriesOf(join(home, parent)).map((name) => join(parent, name)));
  const paths = [...directories, ...parents, ...below].map((path) => join(home, path));
  return paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [[path, stats.mtimeMs]];
  });
}

const directories = [".cargo/git/db", ".npm/_cacache", ".npm/_cacache/tmp", ".npm/_cacache/index-v5"];

/** The directories in these change. */
const parents = [".cargo/registry/cache", ".gradle/wrapper/dists", ".cache/pip/http-v2", ".cache/pip/wheels"];

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** `cp -s` makes links, and keeps what exists. */
const links = 'links() { [ -d "$1" ] && mkdir -p "$2" && cp -rsn "$1/." "$2"; }';

/** Never its credentials. */
const cargo = `for part in registry/index registry/cache git/db; do links "$HOME/.cargo/$part" "$CARGO_HOME/$part"; done
for file in config.toml config; do
  if [ -f "$HOME/.cargo/$file" ] && [ ! -e "$CARGO_HOME/$file" ]; then mkdir -p "$CARGO_HOME" && ln -s "$HOME/.cargo/$file" "$CARGO_HOME/$file"; fi
done`;

/** npm appends to the index, so that is a copy. */
const npm = `if [ -d "$HOME/.npm/_cacache/index-v5" ]; then
  links "$HOME/.npm/_cacache/content-v2" "$npm_config_cache/_cacache/content-v2"
  mkdir -p "$npm_config_cache/_cacache/index-v5" && cp -rn "$HOME/.npm/_cacache/index-v5/." "$npm_config_cache/_cacache/index-v5"
fi`;

/** The wrapper opens its lock files for writing. */
const gradle = `if links "$HOME/.gradle/wrapper/dists" "$GRADLE_USER_HOME/wrapper/dists"; then
  find "$GRADLE_USER_HOME/wrapper/dists" -maxdepth 3 -name "*.lck" -type l -delete
fi`;

const pip = `for part in http-v2 wheels; do links "$HOME/.cache/pip/$part" "$PIP_CACHE_DIR/$part"; done`;
