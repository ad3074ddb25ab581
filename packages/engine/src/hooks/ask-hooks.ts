// Tells every hook that is meant about a moment, at the same time, and takes what they say together in their order.
import type { HookDefinition, ThreadRecord } from "@agentcli/protocol";
import { agentcliOccasions } from "./agentcli/occasions.ts";
import { readAgentcliReaction } from "./agentcli/reaction.ts";
import { closedOnFailure } from "./failure.ts";
import { matches } from "./matcher.ts";
import type { Facts, Moment, Occasion } from "./moment.ts";
import { notesOf } from "./notes.ts";
import { platformOccasions } from "./platform/occasions.ts";
import { readPlatformReaction } from "./platform/reaction.ts";
import type { HookHost, HookRun } from "./port.ts";
import { type Answered, failed, type Judgement, type Reaction, type ReadReaction, together } from "./reaction.ts";

interface Dialect {
  occasions(moment: Moment, facts: Facts): Occasion[];
  read: ReadReaction;
}

const dialects: Record<HookDefinition["dialect"], Dialect> = {
  agentcli: { occasions: agentcliOccasions, read: readAgentcliReaction },
  platform: { occasions: platformOccasions, read: readPlatformReaction },
};

/** A hook and what it is to be told. */
export interface Asked {
  definition: HookDefinition;
  occasion: Occasion;
}

export interface Asking {
  host: HookHost;
  facts: Facts;
  environment: Record<string, string>;
  signal: AbortSignal;
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
    judgement: together(answers.map(({ answered }) => answered)),
    notes: answers.flatMap(({ answered, durationMs }) => notesOf(answered, durationMs, moment)),
  };
}

interface Answer {
  answered: Answered;
  durationMs: number;
}

async function askHook({ definition, occasion }: Asked, moment: Moment, asking: Asking): Promise<Answer> {
  const { host, facts, environment, signal } = asking;
  const limit = loopLimitReached(definition, moment);
  if (limit) return { answered: { definition, reaction: { status: "completed", reason: limit } }, durationMs: 0 };
  const timeoutMs = Math.min(definition.timeoutMs, host.limitMs ?? Infinity);
  const bounded = { ...definition, timeoutMs };
  const input = JSON.stringify(occasion.payload);
  const request = { definition: bounded, input, cwd: facts.settings.cwd, timeoutMs, environment };
  const run = await host.runner.run(request, signal);
  const reaction = closedOnFailure(reactionTo(run, bounded), run, definition);
  return { answered: { definition, reaction }, durationMs: run.kind === "ran" ? run.durationMs : 0 };
}

function reactionTo(run: HookRun, definition: HookDefinition): Reaction {
  if (run.kind === "modified") return failed("hook modified");
  if (run.kind === "not-started") return failed(run.reason);
  return dialects[definition.dialect].read(run, definition);
}

/** A hook that never lets the agent end would keep it, and its bill, running for ever. */
const mostContinuations = 50;

function loopLimitReached({ loopLimit }: HookDefinition, moment: Moment): string | null {
  if (moment.kind !== "ending" && moment.kind !== "agent-ending") return null;
  const limit = Math.min(loopLimit ?? Infinity, mostContinuations);
  return moment.continuations >= limit ? `not asked again: it sent the agent on ${limit} times` : null;
}
