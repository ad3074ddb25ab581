// The files of the workspace that a hook's command runs: their content is trusted together with the command.
import { homedir } from "node:os";
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import { isOnlyScript, openWorkspace, type Pin, pinCommand, type Workspace } from "./pin/index.ts";

export interface ScriptSearch {
  /** Base directories of relative paths, the likeliest first. */
  directories: string[];
  repository: string;
  /** More directories that an agent may write to. */
  writableRoots?: string[];
  /** `script`: only the script itself, for hooks that run inside the sandbox. */
  pinning: "files" | "script";
}

/** The definition with the files that its command runs. */
export function withFiles(definition: HookDefinition, search: ScriptSearch): HookDefinition {
  if (!isCommandHook(definition)) return definition;
  const { script, files, unpinned } = pinHook(definition, search);
  return {
    ...definition,
    ...(script && { script }),
    ...(search.pinning === "files" && (unpinned === undefined ? { files } : { unpinned })),
  };
}

export const isCommandHook = (definition: HookDefinition): definition is HookOf<"command"> => "command" in definition;

export const pinHook = (definition: HookOf<"command">, search: ScriptSearch): Pin =>
  pinCommand(definition.command, hookWorkspace(definition, search));

export function hookWorkspace({ directory }: HookDefinition, search: ScriptSearch): Workspace {
  const { directories, repository, writableRoots = [] } = search;
  const variables = { HOME: homedir(), AGENT_PROJECT_DIR: repository, PLATFORM_PROJECT_DIR: repository };
  return openWorkspace(
    directory === undefined ? directories : [directory],
    [repository, ...writableRoots],
    new Map(Object.entries(variables)),
  );
}

/** Threads and trust from before hooks were pinned know the script alone. Null if that is all there is to know. */
export function whyOutdated(definition: HookDefinition, search: ScriptSearch): string | null {
  if (!isCommandHook(definition) || definition.files || definition.unpinned !== undefined) return null;
  const { files, unpinned } = pinHook(definition, search);
  if (unpinned !== undefined) return `cannot be pinned: ${unpinned}`;
  return isOnlyScript(files, definition.script) ? null : "other files that it runs were not covered by trust";
}
