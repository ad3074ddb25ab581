// The hooks in the files of project, user and administrator.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FoundHooks } from "@agentcli/host";
import { type HookFile, repositoryHookFiles } from "@agentcli/project";
import { readHookFiles, type ScriptSearch } from "@agentcli/project/hooks";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";

export interface HooksRequest {
  sources: ResolvedOptions["sources"];
  /** Of the project. */
  root: string;
  machine: Machine;
  search: ScriptSearch;
}

/** Where the files that hooks run are looked for, and which of them the agent may be able to change. */
export const hookSearch = (root: string, cwd: string, dirs: string[]): ScriptSearch => ({
  directories: [cwd, root],
  repository: root,
  writableRoots: [cwd, ...dirs],
  pinning: "files",
});

/** All of them count, the nearest last. */
export function readHooks({ sources, root, machine, search }: HooksRequest): FoundHooks {
  const files = [
    ...(sources.has("mdm") ? hookFile("managed", machine.systemDirectory) : []),
    ...(sources.has("user") ? hookFile("user", machine.settingsHome) : []),
    ...(sources.has("project") ? repositoryHookFiles(root) : []),
  ];
  return readHookFiles(files, search);
}

function hookFile(kind: "managed" | "user", directory: string): HookFile[] {
  const path = join(directory, "hooks.json");
  return existsSync(path) ? [{ kind, dialect: "platform", path, directory }] : [];
}
