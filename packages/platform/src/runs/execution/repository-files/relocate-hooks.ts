// Rewrites the paths of hooks: for commands, also of those that conversations of earlier versions have recorded with the
// directory of the host they began on; and back, for the host that checks their files.
import { basename } from "node:path";
import type { HookDefinition } from "@agentcli/protocol";
import { type AgentPaths, workspacePath } from "../agent-paths.ts";

export function hookWithSandboxPaths(hook: HookDefinition, { directory }: AgentPaths): HookDefinition {
  const onHost = new RegExp(`^/.*?/${basename(directory)}(?=/|$)`);
  return relocate(hook, (path) => path.replace(onHost, workspacePath));
}

export const hookWithHostPaths = (hook: HookDefinition, { toHostPath }: AgentPaths): HookDefinition =>
  relocate(hook, toHostPath);

/** Only paths change; the expected content of files stays the same. */
function relocate(hook: HookDefinition, move: (path: string) => string): HookDefinition {
  const { source, key, directory, script, files } = hook;
  return {
    ...hook,
    source: { ...source, path: move(source.path) },
    key: move(key),
    ...(directory !== undefined && { directory: move(directory) }),
    ...(script && { script: { ...script, path: move(script.path) } }),
    ...(files && { files: files.map((file) => ({ ...file, path: move(file.path) })) }),
  };
}
