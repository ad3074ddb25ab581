// Hooks that a conversation began with, where its directory is now: after a restore that may be another place.
import { basename } from "node:path";
import type { HookDefinition } from "@agentcli/protocol";

/** Only names of files change; what they must hold is as it was. */
export function movedHooks(hooks: HookDefinition[], agentDirectory: string): HookDefinition[] {
  const formerly = new RegExp(`^/.*?/${basename(agentDirectory)}(?=/|$)`);
  const moved = (path: string): string => path.replace(formerly, () => agentDirectory);
  return hooks.map((hook) => ({
    ...hook,
    source: { ...hook.source, path: moved(hook.source.path) },
    key: moved(hook.key),
    ...(hook.directory !== undefined && { directory: moved(hook.directory) }),
    ...(hook.script && { script: { ...hook.script, path: moved(hook.script.path) } }),
  }));
}
