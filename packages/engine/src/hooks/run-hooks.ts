// Runs every hook selected for a point, concurrently, and combines their reactions in definition order.
import type { HookDefinition, ThreadRecord } from "@agentcli/protocol";
import { type CombinedReaction, combineReactions, type HookResult } from "./combine.ts";
import type { HookDialects } from "./dialect.ts";
import { failClosed } from "./failure.ts";
import type { HookRun } from "./hook-run.ts";
import { notesOf } from "./notes.ts";
import type { HookEvent, HookPoint, ThreadInfo } from "./point.ts";
import type { HookHost } from "./port.ts";
import { failed, type Reaction } from "./reaction.ts";
import { type RunOptions, runHook } from "./run-hook.ts";

export interface SelectedHook {
  definition: HookDefinition;
  event: HookEvent;
}

export interface HookRunOptions extends Omit<RunOptions, "cwd"> {
  thread: ThreadInfo;
}

export interface HookResults {
  combined: CombinedReaction;
  /** Must be written before the reaction takes effect. */
  notes: ThreadRecord[];
}

export function selectHooks(point: HookPoint, { definitions, dialects }: HookHost, thread: ThreadInfo): SelectedHook[] {
  const events = new Map<HookDefinition["dialect"], HookEvent[]>();
  return definitions.flatMap((definition) => {
    const { dialect } = definition;
    const dialectEvents = events.get(dialect) ?? dialects[dialect].events(point, thread);
    events.set(dialect, dialectEvents);
    const matching = dialectEvents.filter((event) => matches(definition, event, dialects));
    return matching.map((event) => ({ definition, event }));
  });
}

function matches({ dialect, event, matcher }: HookDefinition, candidate: HookEvent, dialects: HookDialects): boolean {
  if (event !== candidate.event) return false;
  if (matcher === null || matcher === "" || matcher === "*" || candidate.subjects === null) return true;
  return candidate.subjects.some(dialects[dialect].compileMatcher(matcher));
}

export async function runHooks(
  selected: SelectedHook[],
  point: HookPoint,
  options: HookRunOptions,
): Promise<HookResults> {
  const results = await Promise.all(selected.map((each) => runSelected(each, point, options)));
  return {
    combined: combineReactions(results, options.host.dialects),
    notes: results.flatMap((result) => notesOf(result, point)),
  };
}

async function runSelected(
  { definition, event }: SelectedHook,
  point: HookPoint,
  options: HookRunOptions,
): Promise<HookResult> {
  const { host, thread } = options;
  const limit = loopLimitReached(definition, point);
  if (limit) return { definition, reaction: { status: "completed", reason: limit }, durationMs: 0, charge: null };
  const bounded = { ...definition, timeoutMs: Math.min(definition.timeoutMs, host.limitMs ?? Infinity) };
  const { statusMessage } = definition;
  if (statusMessage !== undefined && !definition.async) options.context.onProgress({ type: "hook", statusMessage });
  const { run, charge } = await runHook(bounded, event, { ...options, cwd: thread.settings.cwd });
  const dialect = host.dialects[definition.dialect];
  const reaction = failClosed(reactionTo(run, bounded, host), { run, definition, dialect });
  return { definition, reaction, durationMs: "durationMs" in run ? run.durationMs : 0, charge };
}

function reactionTo(run: HookRun, definition: HookDefinition, { dialects }: HookHost): Reaction {
  switch (run.kind) {
    case "ran":
    case "judged":
    case "unclear":
      return dialects[definition.dialect].readReaction(run, definition);
    case "modified":
      return failed("hook modified");
    case "unanswered":
      return failed(run.reason);
  }
}

/** Without a limit, a hook that never lets the turn end would keep it running, and its cost growing, forever. */
const maxContinuations = 50;

function loopLimitReached({ loopLimit }: HookDefinition, point: HookPoint): string | null {
  if (point.kind !== "ending" && point.kind !== "agent-ending") return null;
  const limit = Math.min(loopLimit ?? Infinity, maxContinuations);
  return point.continuations >= limit ? `not asked again: it sent the agent on ${limit} times` : null;
}
