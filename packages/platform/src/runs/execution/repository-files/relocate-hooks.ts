// Rewrites the paths of the hooks a conversation began with: after a restore, the agent's directory may be elsewhere.
import { basename } from "node:path";
import type { HookDefinition } from "@agentcli/protocol";

/** Only paths change; the expected content of scripts stays the same. */
export function relocateHooks(hooks: HookDefinition[], agentDirectory: string): HookDefinition[] {
  const formerDirectory = new RegExp(`^/.*?/${basename(agentDirectory)}(?=/|$)`);
  const relocate = (path: string): string => path.replace(formerDirectory, () => agentDirectory);
  return hooks.map((hook) => ({
    ...hook,
    source: { ...hook.source, path: relocate(hook.source.path) },
    key: relocate(hook.key),
    ...(hook.directory !== undefined && { directory: relocate(hook.directory) }),
    ...(hook.script && { script: { ...hook.script, path: relocate(hook.script.path) } }),
  }));
}
