// The platform dialect as the engine runs it.
import type { HookDialect } from "@agentcli/engine/hooks";
import { patternMatcher } from "../matcher.ts";
import { platformEvents } from "./events.ts";
import { permissionEvents, readReaction } from "./reactions.ts";

const guardsTurns = new Set(["beforeSubmitPrompt", "sessionStart"]);

export const platformDialect: HookDialect = {
  events: platformEvents,
  compileMatcher: patternMatcher,
  readReaction,
  refusedOnFailure: (event) => (permissionEvents.has(event) ? "call" : guardsTurns.has(event) ? "turn" : null),
  needsFileContent: (event) => event === "beforeReadFile",
  reportedRefusals: "all",
};
