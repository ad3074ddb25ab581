// The agentcli dialect as the engine runs it.
import type { HookDialect } from "@agentcli/engine/hooks";
import { nameOrPatternMatcher } from "../matcher.ts";
import { agentcliEvents } from "./events.ts";
import { readReaction } from "./reactions.ts";

const guardsCalls = new Set(["PreToolUse", "PermissionRequest", "PostToolUse"]);
const guardsTurns = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"]);

export const agentcliDialect: HookDialect = {
  events: agentcliEvents,
  compileMatcher: nameOrPatternMatcher,
  readReaction,
  refusedOnFailure: (event) => (guardsCalls.has(event) ? "call" : guardsTurns.has(event) ? "turn" : null),
  needsFileContent: () => false,
  reportedRefusals: "first",
};
