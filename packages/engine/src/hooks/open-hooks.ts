// The hooks of a thread: when each point is reached, and what follows from the reactions.
import type { ThreadRecord, TurnEnd } from "@agentcli/protocol";
import type { Log } from "../log/log.ts";
import type { AgentIdentity, HookContext, ThreadHooks } from "../thread-hooks.ts";
import { openBackground } from "./background.ts";
import { callHooks } from "./calls.ts";
import { continuationRecords, mirroredNotes, promptedNote, skippedNote, withoutEffect } from "./notes.ts";
import type { AgentActivity, HookPoint, ThreadInfo } from "./point.ts";
import type { HookHost } from "./port.ts";
import { type HookResults, runHooks, type SelectedHook, selectHooks } from "./run-hooks.ts";

/** Shared by all threads of a session. */
interface Session {
  host: HookHost;
  /** Set by hooks at the start of the session, for those that run later. */
  environment: Record<string, string>;
  startedAt: number;
  /** The log of the main thread, once it has begun. */
  main: Log | null;
}

/** The sub-agent that the hooks belong to. */
interface Membership {
  agent: AgentIdentity;
  parentId: string;
}

export const openHooks = (host: HookHost): ThreadHooks =>
  openGate({ host, environment: {}, startedAt: performance.now(), main: null }, null);

// Over 60 lines because it is the list of hook points; each takes a line or two.
function openGate(session: Session, membership: Membership | null): ThreadHooks {
  const { host } = session;
  const write = async (records: ThreadRecord[], log: Log): Promise<void> => {
    if (records.length > 0) await log.write(...records);
    const mirrored = membership ? records.flatMap((record) => mirroredNotes(record, membership.agent)) : [];
    if (mirrored.length > 0 && session.main?.state.turn) await session.main.write(...mirrored);
  };
  const background = openBackground(write);
  const startedAt = performance.now();
  let isStarted = false;

  const runWithoutNotes = async (point: HookPoint, context: HookContext): Promise<HookResults> => {
    const thread = threadInfo(context, host, membership);
    const options = { host, thread, context, environment: session.environment, signal: context.signal };
    const selected = selectHooks(point, host, thread);
    for (const hook of selected.filter(isAsync))
      background.start((ended) => runHooks([hook], point, { ...options, signal: ended }), context.log);
    const awaited = selected.filter((hook) => !isAsync(hook));
    return runHooks(awaited, point, options);
  };
  const runAt = async (
    point: HookPoint,
    context: HookContext,
    more: (results: HookResults) => ThreadRecord[] = () => [],
  ): Promise<HookResults> => {
    const results = await runWithoutNotes(point, context);
    await write([...results.notes, ...more(results)], context.log);
    return results;
  };
  const calls = callHooks(runAt, host);
  const activity = ({ agent, parentId }: Membership, { log }: HookContext): AgentActivity => {
    const durationMs = performance.now() - startedAt;
    return { agent, parentId, durationMs, messages: log.state.messages.length, ...calls.activity() };
  };

  return {
    ...calls,
    async begin(thread) {
      if (membership) return;
      if (!isStarted) {
        isStarted = true;
        session.main = thread.log;
        await thread.log.write(...host.skipped.map(skippedNote));
        const { combined } = await runAt({ kind: "session-started", source: sourceOf(thread) }, thread);
        Object.assign(session.environment, combined.environment);
      }
      const { turn } = thread.log.state;
      if (!turn || turn.hooks.prompted || turn.hooks.halted) return;
      await runAt({ kind: "prompted", prompt: turn.prompt }, thread, ({ notes }) =>
        notes.length > 0 ? [promptedNote] : [],
      );
    },
    async replied({ blocks, usage }, thread) {
      const texts = blocks.flatMap((block) => (block.type === "message" ? [block.text] : []));
      const thoughts = blocks.flatMap((block) => (block.type === "reasoning" ? block.summary : []));
      const [text, thought] = [texts.join("\n").trim(), thoughts.join("\n").trim()];
      await runAt({ kind: "replied", text, thought, usage }, thread);
    },
    async compaction(phase, thread) {
      if (phase === "before") return void (await runAt(compacting(thread), thread));
      await runAt({ kind: "compacted" }, thread);
      if (!membership) await runAt({ kind: "session-started", source: "compact" }, thread);
    },
    async mayEnd(message, thread) {
      const { hooks } = thread.log.state.turn ?? {};
      const continuations = hooks?.continuations ?? 0;
      const point: HookPoint = membership
        ? { kind: "agent-ending", message, continuations, activity: activity(membership, thread) }
        : { kind: "ending", message, continuations };
      const { combined } = await runAt(point, thread, ({ combined: { block, stop } }) =>
        block && !stop ? continuationRecords(block.reason, hooks?.context ?? []) : [],
      );
      if (thread.log.state.turn?.hooks.halted) return false;
      const isOver = combined.block === null || combined.stop !== null;
      if (isOver) await background.end();
      return isOver;
    },
    async spawning(agent, thread) {
      const { combined } = await runAt({ kind: "agent-starting", agent }, thread);
      const { block, context } = combined;
      if (block) return { kind: "refused", reason: `Sub-agent blocked by ${block.event} hook: ${block.reason}` };
      return { kind: "allowed", context };
    },
    forAgent: (agent, parentId) => openGate(session, { agent, parentId }),
    async endSession(end, thread) {
      await background.end();
      const durationMs = performance.now() - session.startedAt;
      const { status, error } = statusOf(end);
      const points: HookPoint[] = [
        ...(status === "completed" ? [] : [{ kind: "ended-badly", status } as const]),
        { kind: "session-ended", status, error, durationMs },
      ];
      for (const point of points) {
        const { notes } = await runWithoutNotes(point, thread);
        await write(notes.map(withoutEffect), thread.log);
      }
    },
  };
}

/** A thread with earlier turns or replies was begun by another process. */
function sourceOf({ log }: HookContext): "resume" | "startup" {
  const { turns, turn, repliesSinceCompaction, compactions } = log.state;
  const hasHistory = turns > 1 || repliesSinceCompaction > 0 || compactions > 0 || turn?.hooks.prompted === true;
  return hasHistory ? "resume" : "startup";
}

const isAsync = ({ definition }: SelectedHook): boolean => definition.async;

function threadInfo({ log }: HookContext, host: HookHost, membership: Membership | null): ThreadInfo {
  const { state } = log;
  const settings = state.turn?.settings ?? state.settings;
  if (!settings) throw new Error("hooks ran in a thread without settings");
  const sessionId = membership?.parentId ?? state.threadId;
  return {
    sessionId,
    turnId: state.turn?.turnId ?? "",
    settings,
    transcriptPath: host.transcriptPath(sessionId),
    agentTranscriptPath: membership ? host.transcriptPath(state.threadId) : null,
    projectRoot: host.projectRoot,
    sessionFields: host.sessionFields ?? {},
    version: host.version,
    agent: membership?.agent ?? null,
    servers: host.servers,
  };
}

function compacting({ log }: HookContext): HookPoint {
  const { tokens, messages, compactions, turn } = log.state;
  // The history is compacted at nine tenths of the window.
  const window = Math.round((turn?.settings.compactAt ?? 0) / 0.9);
  return { kind: "compacting", tokens, window, messages: messages.length, first: compactions === 0 };
}

function statusOf(end: TurnEnd): Pick<Extract<HookPoint, { kind: "session-ended" }>, "status" | "error"> {
  if (end.status === "failed") return { status: "error", error: end.message };
  return { status: end.status === "cancelled" ? "aborted" : "completed", error: null };
}
