// Calls under the tool names of the agentcli dialect.
import { isEditTool, patchText } from "@agentcli/engine";
import type { HookCall } from "@agentcli/engine/hooks";

export interface NamedCall {
  name: string;
  /** Other names a matcher may use. */
  aliases: string[];
  input: Record<string, unknown>;
}

export function named({ name, args }: HookCall): NamedCall {
  if (name === "exec_command") return { name: "Bash", aliases: [], input: { command: args.cmd } };
  if (name === "apply_patch") return { name, aliases: ["Write", "Edit"], input: { command: args.input } };
  // Matchers and hooks made for patches see every edit.
  if (isEditTool(name))
    return { name, aliases: ["apply_patch", "Write", "Edit"], input: { ...args, command: patchText(name, args) } };
  if (name === "spawn_agent") return { name, aliases: ["Agent"], input: args };
  return { name, aliases: [], input: args };
}
