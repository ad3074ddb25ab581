// The answers of several hooks to one event, combined in the order of their definitions.
import type { HookDefinition, HookSource } from "@agentcli/protocol";
import type { HookDialects } from "./dialect.ts";
import type { ModelCharge } from "./hook-run.ts";
import type { Reaction } from "./reaction.ts";

export interface HookResult {
  definition: HookDefinition;
  reaction: Reaction;
  durationMs: number;
  charge: ModelCharge | null;
}

export interface CombinedReaction {
  block: { reason: string; event: string } | null;
  approves: boolean;
  input: Record<string, unknown> | null;
  context: string[];
  stop: { reason: string; event: string; source: HookSource } | null;
  output: string | null;
  environment: Record<string, string>;
}

/** One refusal refuses; the last rewritten input counts. */
export function combineReactions(results: HookResult[], dialects: HookDialects): CombinedReaction {
  const blocks = results.filter(({ reaction }) => reaction.block !== undefined);
  const stop = results.find(({ reaction }) => reaction.stop !== undefined);
  const reactions = results.map(({ reaction }) => reaction);
  return {
    block: blocks[0] ? { reason: reasonsOf(blocks, dialects), event: blocks[0].definition.event } : null,
    approves: reactions.some(({ approves }) => approves),
    input: reactions.findLast(({ input }) => input)?.input ?? null,
    context: reactions.flatMap(({ context }) => context ?? []),
    stop: stop
      ? { reason: stop.reaction.stop ?? "", event: stop.definition.event, source: stop.definition.source.kind }
      : null,
    output: reactions.findLast(({ output }) => output !== undefined)?.output ?? null,
    environment: Object.assign({}, ...reactions.map(({ environment }) => environment)),
  };
}

function reasonsOf(blocks: HookResult[], dialects: HookDialects): string {
  const first = blocks.find(({ definition }) => dialects[definition.dialect].reportedRefusals === "first");
  const reported = first ? [first] : blocks;
  return reported.map(({ reaction }) => reaction.block).join("\n\n---\n\n");
}
