// What one hook said, in one vocabulary for both dialects, and what several said together.
import type { HookDefinition, HookSource } from "@agentcli/protocol";
import type { HookRun } from "./port.ts";
import type { Paid } from "./prompt-hook.ts";

export interface Reaction {
  status: "completed" | "blocked" | "failed";
  /** Why it is blocked or failed; empty otherwise. */
  reason: string;
  /** Refuses a call or replaces its result; at the end of a turn: what the agent goes on with. */
  block?: string;
  approves?: true;
  /** The arguments of the call, in the words hooks know. */
  input?: Record<string, unknown>;
  /** For the model. */
  context?: string;
  /** The turn ends here. */
  stop?: string;
  /** Takes the place of what a tool said. */
  output?: string;
  /** For later hooks. */
  environment?: Record<string, string>;
  /** For people. */
  warning?: string;
}

/** How a dialect understands what a hook printed. */
export type ReadReaction = (run: Extract<HookRun, { kind: "ran" }>, definition: HookDefinition) => Reaction;

export const completed = (more: Partial<Reaction> = {}): Reaction => ({ status: "completed", reason: "", ...more });
export const blocked = (reason: string, more: Partial<Reaction> = {}): Reaction => ({
  status: "blocked",
  reason,
  block: reason,
  ...more,
});
export const failed = (reason: string): Reaction => ({ status: "failed", reason });

/** What a hook asks of a thread, with who asked. */
export interface Answered {
  definition: HookDefinition;
  reaction: Reaction;
  durationMs: number;
  /** What a model took for the answer. */
  paid: Paid | null;
}

export interface Judgement {
  block: { reason: string; event: string } | null;
  approves: boolean;
  input: Record<string, unknown> | null;
  context: string[];
  stop: { reason: string; event: string; source: HookSource } | null;
  output: string | null;
  environment: Record<string, string>;
}

/** In the order of the definitions: one refusal refuses, the last rewriting counts. */
export function together(answers: Answered[]): Judgement {
  const blocks = answers.filter(({ reaction }) => reaction.block !== undefined);
  const stop = answers.find(({ reaction }) => reaction.stop !== undefined);
  const reactions = answers.map(({ reaction }) => reaction);
  return {
    block: blocks[0] ? { reason: reasonsOf(blocks), event: blocks[0].definition.event } : null,
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

/** The dialects differ: in one the first refusal speaks, in the other all do. */
function reasonsOf(blocks: Answered[]): string {
  const first = blocks.find(({ definition }) => definition.dialect === "agentcli");
  const said = first ? [first] : blocks;
  return said.map(({ reaction }) => reaction.block).join("\n\n---\n\n");
}
