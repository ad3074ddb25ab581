// What a hook dialect must provide. The dialects themselves are values passed in by the host.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookAnswer } from "./hook-run.ts";
import type { HookEvent, HookPoint, ThreadInfo } from "./point.ts";
import type { Reaction } from "./reaction.ts";

export interface HookDialect {
  /** The events of this point, with the payloads hooks receive; none if the dialect has no event for it. */
  events(point: HookPoint, thread: ThreadInfo): HookEvent[];
  /** Never throws for an invalid pattern. */
  compileMatcher(matcher: string): (subject: string) => boolean;
  readReaction(answer: HookAnswer, definition: HookDefinition): Reaction;
  /** What is refused when a hook of this event fails and failure counts as refusal. */
  refusedOnFailure(event: string): "call" | "turn" | null;
  /** Whether hooks of this event receive the content of a file about to be read. */
  needsFileContent(event: string): boolean;
  /** Which reasons are reported if several hooks refuse the same call. */
  reportedRefusals: "first" | "all";
}

export type HookDialects = Record<HookDefinition["dialect"], HookDialect>;
