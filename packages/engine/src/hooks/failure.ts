// When the failure of a hook counts as its refusal.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookRun } from "./port.ts";
import type { Reaction } from "./reaction.ts";

const refusesCalls = new Set([
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "preToolUse",
  "beforeShellExecution",
  "beforeMCPExecution",
  "beforeReadFile",
  "subagentStart",
]);
const refusesTurns = new Set(["SessionStart", "UserPromptSubmit", "PreCompact", "beforeSubmitPrompt", "sessionStart"]);

/** A guard that was changed behind our back guards nothing, so what it guards is refused; a managed one ends the turn. */
export function closedOnFailure(reaction: Reaction, run: HookRun, definition: HookDefinition): Reaction {
  const { event, source, failClosed } = definition;
  if (reaction.status !== "failed") return reaction;
  const { reason } = reaction;
  if (source.kind === "managed")
    return { ...reaction, stop: reason, ...(refusesCalls.has(event) && { block: reason }) };
  if (run.kind === "modified")
    return refusesCalls.has(event) ? { ...reaction, status: "blocked", block: reason } : reaction;
  if (!failClosed) return reaction;
  if (refusesCalls.has(event)) return { ...reaction, status: "blocked", block: reason };
  return refusesTurns.has(event) ? { ...reaction, status: "blocked", stop: reason } : reaction;
}
