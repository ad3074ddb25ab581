// Where hooks are written down, found without reading any of them: a run without hooks loads nothing of the rest.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { HookDefinition, HookSource } from "@agentcli/protocol";
import type { LoadedConfig } from "../config/load.ts";
import { isTable, type Table, valueAt } from "../config/table.ts";
import { contains } from "../files/places.ts";

/** A file of hooks, or the hooks of a configuration that has been read already. */
export interface HookFile {
  kind: HookSource;
  dialect: HookDefinition["dialect"];
  path: string;
  /** The `[hooks]` of a configuration. */
  table?: Table;
  /** Where its hooks run; absent: where the thread works. */
  directory?: string;
}

export interface HookSearch {
  home: string;
  systemDirectory: string;
  cwd: string;
  loaded: LoadedConfig;
}

/** In the order in which what they say is taken together: the machine first, the nearest directory last. */
export function findHookFiles(search: HookSearch): HookFile[] {
  const { loaded, home, systemDirectory } = search;
  const { managedHooks, managedHooksOnly } = loaded.requirements;
  const managed: HookFile[] = [
    ...managedHooks.map(({ path, hooks }) => ({ kind: "managed", dialect: "agentcli", path, table: hooks }) as const),
    ...present({ kind: "managed", dialect: "agentcli", path: join(systemDirectory, "hooks.json") }),
    ...tablesOf(loaded, "managed"),
  ];
  if (managedHooksOnly || loaded.config.features?.hooks === false) return managed;
  return [
    ...managed,
    ...present({ kind: "user", dialect: "agentcli", path: join(home, "hooks.json") }),
    ...tablesOf(loaded, "user"),
    ...projectFiles(search),
    ...tablesOf(loaded, "project"),
  ];
}

/** Those of a repository alone, for a host that trusts it as a whole: what it links to outside is not its own. */
export function repositoryHookFiles(root: string): HookFile[] {
  const files: HookFile[] = [
    { kind: "project", dialect: "agentcli", path: join(root, ".agentcli", "hooks.json"), directory: root },
    { kind: "project", dialect: "platform", path: join(root, ".platform", "hooks.json"), directory: root },
  ];
  return files.flatMap(present).filter(({ path }) => contains(realpathSync(root), realpathSync(path)));
}

/** In a worktree the hooks are those of the checkout it belongs to: they were trusted by their place. */
function projectFiles({ cwd, home, loaded }: HookSearch): HookFile[] {
  const { root, mainRoot } = loaded.project;
  const kind = "project";
  const folders = directoriesBetween(root, cwd).map((directory) => join(mainRoot, relative(root, directory)));
  const own = folders
    .map((folder) => join(folder, ".agentcli"))
    .filter((folder) => folder !== home)
    .flatMap((folder) => present({ kind, dialect: "agentcli", path: join(folder, "hooks.json") }));
  const path = join(mainRoot, ".platform", "hooks.json");
  return [...own, ...present({ kind, dialect: "platform", path, directory: root })];
}

function directoriesBetween(root: string, cwd: string): string[] {
  const directories = [cwd];
  for (let here = cwd; here !== root && here !== dirname(here); here = dirname(here))
    directories.unshift(dirname(here));
  return directories;
}

const present = (file: HookFile): HookFile[] => (existsSync(file.path) ? [file] : []);

const kindOf: Record<string, HookSource | undefined> = {
  system: "managed",
  user: "user",
  profile: "user",
  override: "user",
  project: "project",
};

/** The hooks of configuration layers; `state` among them is trust, not a hook. */
function tablesOf({ layers }: LoadedConfig, kind: HookSource): HookFile[] {
  return layers.flatMap((layer) => {
    if (layer.state === "disabled" || kindOf[layer.origin.kind] !== kind) return [];
    const { state: _, ...table } = (layer.table.hooks ?? {}) as Table;
    if (Object.keys(table).length === 0) return [];
    const path = "path" in layer.origin ? layer.origin.path : "-c";
    return [{ kind, dialect: "agentcli", path, table }];
  });
}

/** What the user has said about hooks, by key. A project cannot trust itself. */
export interface HookState {
  enabled?: boolean;
  trusted_hash?: string;
  script_hash?: string;
}

export function readHookStates({ layers }: LoadedConfig): Map<string, HookState> {
  const states = new Map<string, HookState>();
  for (const layer of layers) {
    const isOwn = layer.origin.kind === "user" || layer.origin.kind === "override";
    const table = layer.state === "enabled" && isOwn ? valueAt(layer.table, ["hooks", "state"]) : undefined;
    if (!isTable(table)) continue;
    for (const [key, state] of Object.entries(table)) if (isTable(state)) states.set(key, state as HookState);
  }
  return states;
}
