// When the failure of a hook counts as a refusal.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookDialect } from "./dialect.ts";
import type { HookRun } from "./hook-run.ts";
import type { Reaction } from "./reaction.ts";

export interface FailedRun {
  run: HookRun;
  definition: HookDefinition;
  dialect: HookDialect;
}

/** A hook modified since it was trusted protects nothing, so what it guards is refused; a managed one ends the turn. */
export function failClosed(reaction: Reaction, { run, definition, dialect }: FailedRun): Reaction {
  if (reaction.status !== "failed") return reaction;
  const { reason } = reaction;
  const refused = dialect.refusedOnFailure(definition.event);
  if (definition.source.kind === "managed")
    return { ...reaction, stop: reason, ...(refused === "call" && { block: reason }) };
  if (run.kind === "modified") return refused === "call" ? { ...reaction, status: "blocked", block: reason } : reaction;
  if (!definition.failClosed || refused === null) return reaction;
  return refused === "call"
    ? { ...reaction, status: "blocked", block: reason }
    : { ...reaction, status: "blocked", stop: reason };
}
