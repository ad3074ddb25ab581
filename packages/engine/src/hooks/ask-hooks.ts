// Tells every hook that is meant about a moment, at the same time, and takes what they say together in their order.
import type { HookDefinition, ThreadRecord } from "@agentcli/protocol";
import { agentcliOccasions } from "./agentcli/occasions.ts";
import { readAgentcliReaction, notUnderstood as unclearToAgentcli } from "./agentcli/reaction.ts";
import { closedOnFailure } from "./failure.ts";
import { matches } from "./matcher.ts";
import type { Facts, Moment, Occasion } from "./moment.ts";
import { notesOf } from "./notes.ts";
import { platformOccasions } from "./platform/occasions.ts";
import { readPlatformReaction, notUnderstood as unclearToPlatform } from "./platform/reaction.ts";
import type { HookRun } from "./port.ts";
import { type Answered, failed, type Judgement, type Reaction, type ReadReaction, together } from "./reaction.ts";
import { type Running, runHook } from "./run-hook.ts";

interface Dialect {
  occasions(moment: Moment, facts: Facts): Occasion[];
  read: ReadReaction;
  unclear(problem: string, event: string): Reaction;
}

const dialects: Record<HookDefinition["dialect"], Dialect> = {
  agentcli: { occasions: agentcliOccasions, read: readAgentcliReaction, unclear: unclearToAgentcli },
  platform: { occasions: platformOccasions, read: readPlatformReaction, unclear: unclearToPlatform },
};

/** A hook and what it is to be told. */
export interface Asked {
  definition: HookDefinition;
  occasion: Occasion;
}

export interface Asking extends Omit<Running, "cwd"> {
  facts: Facts;
}

export interface Heard {
  judgement: Judgement;
  /** To be written down before the judgement takes effect. */
  notes: ThreadRecord[];
}

export function whoIsMeant(moment: Moment, { host, facts }: Pick<Asking, "host" | "facts">): Asked[] {
  const told = { agentcli: null, platform: null } as Record<HookDefinition["dialect"], Occasion[] | null>;
  return host.definitions.flatMap((definition) => {
    const { dialect } = definition;
    told[dialect] ??= dialects[dialect].occasions(moment, facts);
    const fitting = told[dialect].filter((occasion) => matches(definition, occasion));
    return fitting.map((occasion) => ({ definition, occasion }));
  });
}

export async function askHooks(asked: Asked[], moment: Moment, asking: Asking): Promise<Heard> {
  const answers = await Promise.all(asked.map((one) => askHook(one, moment, asking)));
  return {
    judgement: together(answers),
    notes: answers.flatMap((answered) => notesOf(answered, moment)),
  };
}

async function askHook({ definition, occasion }: Asked, moment: Moment, asking: Asking): Promise<Answered> {
  const { host, facts } = asking;
  const limit = loopLimitReached(definition, moment);
  if (limit) return { definition, reaction: { status: "completed", reason: limit }, durationMs: 0, paid: null };
  const bounded = { ...definition, timeoutMs: Math.min(definition.timeoutMs, host.limitMs ?? Infinity) };
  const { run, paid } = await runHook(bounded, occasion, { ...asking, cwd: facts.settings.cwd });
  const reaction = closedOnFailure(reactionTo(run, bounded), run, definition);
  return { definition, reaction, durationMs: "durationMs" in run ? run.durationMs : 0, paid };
}

function reactionTo(run: HookRun, definition: HookDefinition): Reaction {
  const { read, unclear } = dialects[definition.dialect];
  switch (run.kind) {
    case "ran":
      return read(run, definition);
    case "unclear":
      return unclear(run.reason, definition.event);
    case "modified":
      return failed("hook modified");
    case "unanswered":
      return failed(run.reason);
  }
}

/** A hook that never lets the agent end would keep it, and its bill, running for ever. */
const mostContinuations = 50;

function loopLimitReached({ loopLimit }: HookDefinition, moment: Moment): string | null {
  if (moment.kind !== "ending" && moment.kind !== "agent-ending") return null;
  const limit = Math.min(loopLimit ?? Infinity, mostContinuations);
  return moment.continuations >= limit ? `not asked again: it sent the agent on ${limit} times` : null;
}
