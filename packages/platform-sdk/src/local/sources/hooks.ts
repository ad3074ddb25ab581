// The hooks in the files of project, user and administrator.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FoundHooks } from "@agentcli/host";
import { type HookFile, repositoryHookFiles } from "@agentcli/project";
import { readHookFiles } from "@agentcli/project/hooks";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";

export interface HooksRequest {
  sources: ResolvedOptions["sources"];
  /** Of the project. */
  root: string;
  cwd: string;
  machine: Machine;
}

/** All of them count, the nearest last. */
export function readHooks({ sources, root, cwd, machine }: HooksRequest): FoundHooks {
  const files = [
    ...(sources.has("mdm") ? hookFile("managed", machine.systemDirectory) : []),
    ...(sources.has("user") ? hookFile("user", machine.settingsHome) : []),
    ...(sources.has("project") ? repositoryHookFiles(root) : []),
  ];
  return readHookFiles(files, { directories: [cwd, root], repository: root });
}

function hookFile(kind: "managed" | "user", directory: string): HookFile[] {
  const path = join(directory, "hooks.json");
  return existsSync(path) ? [{ kind, dialect: "platform", path, directory }] : [];
}
