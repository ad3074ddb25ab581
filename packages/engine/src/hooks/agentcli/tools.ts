// Calls under the names this dialect knows them by, and its rewritten arguments back in ours.
import type { Call } from "../moment.ts";

export interface NamedCall {
  name: string;
  /** Other names a matcher may use. */
  aliases: string[];
  input: Record<string, unknown>;
}

export function named({ name, args }: Call): NamedCall {
  if (name === "exec_command") return { name: "Bash", aliases: [], input: { command: args.cmd } };
  if (name === "apply_patch") return { name, aliases: ["Write", "Edit"], input: { command: args.input } };
  if (name === "spawn_agent") return { name, aliases: ["Agent"], input: args };
  return { name, aliases: [], input: args };
}

/** Null where the hook did not give what the tool takes. */
export function rewritten({ name, args }: Call, input: Record<string, unknown>): Record<string, unknown> | null {
  const own = { exec_command: "cmd", apply_patch: "input" }[name];
  if (own === undefined) return input;
  return typeof input.command === "string" ? { ...args, [own]: input.command } : null;
}
