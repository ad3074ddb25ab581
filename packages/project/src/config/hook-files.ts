// Finds hook files without reading them: a run without hooks loads nothing else of this folder.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { HookDefinition, HookSource } from "@agentcli/protocol";
import { contains } from "../files/directories.ts";
import type { LoadedConfig } from "./load.ts";
import { isTable, type Table, valueAt } from "./table.ts";

/** A hook file, or the hooks table of a loaded configuration. */
export interface HookFile {
  kind: HookSource;
  dialect: HookDefinition["dialect"];
  path: string;
  /** The `[hooks]` of a configuration. */
  table?: Table;
  /** Working directory of its hooks; absent: that of the thread. */
  directory?: string;
}

export interface HookSearch {
  home: string;
  systemDirectory: string;
  cwd: string;
  loaded: LoadedConfig;
}

/** In the order in which their reactions are combined: the machine first, the nearest directory last. */
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

/** Hook files of a repository, for a host that trusts it as a whole; links that leave the repository are ignored. */
export function repositoryHookFiles(root: string): HookFile[] {
  const files: HookFile[] = [
    { kind: "project", dialect: "agentcli", path: join(root, ".agentcli", "hooks.json"), directory: root },
    { kind: "project", dialect: "platform", path: join(root, ".platform", "hooks.json"), directory: root },
  ];
  return files.flatMap(present).filter(({ path }) => contains(realpathSync(root), realpathSync(path)));
}

/** A worktree has the hooks of its main checkout: trust refers to their paths. */
function projectFiles({ cwd, home, loaded }: HookSearch): HookFile[] {
  const { root, mainRoot } = loaded.project;
  const kind = "project";
  const folders = directoriesBetween(root, cwd).map((directory) => join(mainRoot, relative(root, directory)));
  const agentcliFiles = folders
    .map((folder) => join(folder, ".agentcli"))
    .filter((folder) => folder !== home)
    .flatMap((folder) => present({ kind, dialect: "agentcli", path: join(folder, "hooks.json") }));
  const path = join(mainRoot, ".platform", "hooks.json");
  return [...agentcliFiles, ...present({ kind, dialect: "platform", path, directory: root })];
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

/** The hooks of configuration layers; the key `state` is trust, not an event. */
function tablesOf({ layers }: LoadedConfig, kind: HookSource): HookFile[] {
  return layers.flatMap((layer) => {
    if (layer.state === "disabled" || kindOf[layer.origin.kind] !== kind) return [];
    const { state: _, ...table } = (layer.table.hooks ?? {}) as Table;
    if (Object.keys(table).length === 0) return [];
    const path = "path" in layer.origin ? layer.origin.path : "-c";
    return [{ kind, dialect: "agentcli", path, table }];
  });
}

/** The user's settings of hooks, by key. A project cannot trust itself. */
export interface HookState {
  enabled?: boolean;
  trusted_hash?: string;
  script_hash?: string;
  /** Of all files that it runs. Absent where trust is older than that, and where they are not pinned. */
  files_hash?: string;
  /** It may run although its files cannot be pinned. */
  unpinned?: boolean;
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
