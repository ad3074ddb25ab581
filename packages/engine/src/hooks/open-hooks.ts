// The gate of a thread that has hooks: which moment is told when, and what follows from the answers.
import type { ThreadRecord, TurnEnd, TurnSettings } from "@agentcli/protocol";
import type { Log } from "../log.ts";
import type { Drive } from "../running.ts";
import { type Asked, askHooks, type Heard, whoIsMeant } from "./ask-hooks.ts";
import { openBackground } from "./background.ts";
import { type CallHooks, callHooks } from "./calls.ts";
import type { AgentIdentity, HookGate } from "./gate.ts";
import type { AgentWork, Facts, Moment } from "./moment.ts";
import { asSeenOutside, goOn, promptedNote, skippedNote, withoutEffect } from "./notes.ts";
import type { HookHost } from "./port.ts";

/** What all threads of a session share. */
interface Session {
  host: HookHost;
  /** Set by hooks at the start of the session, for those that run later. */
  environment: Record<string, string>;
  startedAt: number;
  /** Of the thread a person looks at, once it has begun. */
  main: Log | null;
}

/** The place of a sub-agent in its session. */
interface Membership {
  agent: AgentIdentity;
  parentId: string;
}

export const openHooks = (host: HookHost): HookGate =>
  openGate({ host, environment: {}, startedAt: performance.now(), main: null }, null);

// Over 60 lines because it is the list of moments; what is done at each is a line or two.
function openGate(session: Session, membership: Membership | null): HookGate {
  const { host } = session;
  const write = async (records: ThreadRecord[], log: Log): Promise<void> => {
    if (records.length > 0) await log.write(...records);
    const seen = membership ? records.flatMap((record) => asSeenOutside(record, membership.agent)) : [];
    if (seen.length > 0 && session.main?.state.turn) await session.main.write(...seen);
  };
  const background = openBackground(write);
  const startedAt = performance.now();
  let isStarted = false;

  const ask = async (moment: Moment, run: Drive): Promise<Heard> => {
    const facts = factsOf(run, host, membership);
    const asking = { host, facts, drive: run, environment: session.environment, signal: run.signal };
    const meant = whoIsMeant(moment, asking);
    const [later, now] = [meant.filter(isAsync), meant.filter((asked) => !isAsync(asked))];
    for (const asked of later)
      background.start((ended) => askHooks([asked], moment, { ...asking, signal: ended }), run.log);
    return askHooks(now, moment, asking);
  };
  const tell = async (
    moment: Moment,
    run: Drive,
    more: (heard: Heard) => ThreadRecord[] = () => [],
  ): Promise<Heard> => {
    const heard = await ask(moment, run);
    await write([...heard.notes, ...more(heard)], run.log);
    return heard;
  };
  const calls: CallHooks = callHooks(tell, host.definitions);

  return {
    ...calls,
    async begin(run) {
      if (membership) return;
      if (!isStarted) {
        isStarted = true;
        session.main = run.log;
        await run.log.write(...host.skipped.map(skippedNote));
        const { judgement } = await tell({ kind: "session-started", source: sourceOf(run) }, run);
        Object.assign(session.environment, judgement.environment);
      }
      const { turn } = run.log.state;
      if (!turn || turn.hooks.prompted || turn.hooks.halted) return;
      await tell({ kind: "prompted", prompt: turn.prompt }, run, ({ notes }) =>
        notes.length > 0 ? [promptedNote] : [],
      );
    },
    async replied({ blocks, usage }, run) {
      const texts = blocks.flatMap((block) => (block.type === "message" ? [block.text] : []));
      const thoughts = blocks.flatMap((block) => (block.type === "reasoning" ? block.summary : []));
      await tell({ kind: "replied", text: texts.join("\n").trim(), thought: thoughts.join("\n").trim(), usage }, run);
    },
    async compaction(moment, run) {
      if (moment === "before") return void (await tell(compacting(run), run));
      await tell({ kind: "compacted" }, run);
      if (!membership) await tell({ kind: "session-started", source: "compact" }, run);
    },
    async mayEnd(message, run) {
      const { hooks } = run.log.state.turn ?? {};
      const continuations = hooks?.continuations ?? 0;
      const moment: Moment = membership
        ? { kind: "agent-ending", message, continuations, work: workOf(membership, calls, startedAt, run) }
        : { kind: "ending", message, continuations };
      const { judgement } = await tell(moment, run, ({ judgement: { block, stop } }) =>
        block && !stop ? goOn(block.reason, hooks?.context ?? []) : [],
      );
      if (run.log.state.turn?.hooks.halted) return false;
      const isOver = judgement.block === null || judgement.stop !== null;
      if (isOver) await background.end();
      return isOver;
    },
    async spawning(agent, run) {
      const { judgement } = await tell({ kind: "agent-starting", agent }, run);
      const { block, context } = judgement;
      if (block) return { kind: "refused", reason: `Sub-agent blocked by ${block.event} hook: ${block.reason}` };
      return { kind: "welcome", context };
    },
    forAgent: (agent, parentId) => openGate(session, { agent, parentId }),
    async endSession(end, run) {
      await background.end();
      const durationMs = performance.now() - session.startedAt;
      const { status, error } = statusOf(end);
      const moments: Moment[] = [
        ...(status === "completed" ? [] : [{ kind: "ended-badly", status } as const]),
        { kind: "session-ended", status, error, durationMs },
      ];
      for (const moment of moments) {
        const { notes } = await ask(moment, run);
        await write(notes.map(withoutEffect), run.log);
      }
    },
  };
}

/** A thread that has said anything before was begun by another program. */
function sourceOf({ log }: Pick<Drive, "log">): "resume" | "startup" {
  const { turns, turn, repliesSinceCompaction, compactions } = log.state;
  const isKnown = turns > 1 || repliesSinceCompaction > 0 || compactions > 0 || turn?.hooks.prompted === true;
  return isKnown ? "resume" : "startup";
}

const isAsync = ({ definition }: Asked): boolean => definition.async;

function factsOf({ log }: Pick<Drive, "log">, host: HookHost, membership: Membership | null): Facts {
  const { state } = log;
  const settings = state.turn?.settings ?? state.settings;
  if (!settings) throw new Error("hooks were asked in a thread without settings");
  const sessionId = membership?.parentId ?? state.threadId;
  return {
    sessionId,
    turnId: state.turn?.turnId ?? "",
    settings,
    transcriptPath: host.transcriptPath(sessionId),
    agentTranscriptPath: membership ? host.transcriptPath(state.threadId) : null,
    projectRoot: host.projectRoot,
    version: host.version,
    agent: membership?.agent ?? null,
    servers: host.servers,
  };
}

function compacting({ log }: Drive): Moment {
  const { tokens, messages, compactions, turn } = log.state;
  const window = Math.round(windowOf(turn?.settings) / 0.9);
  return { kind: "compacting", tokens, window, messages: messages.length, first: compactions === 0 };
}

const windowOf = (settings: TurnSettings | undefined): number => settings?.compactAt ?? 0;

function workOf({ agent, parentId }: Membership, calls: CallHooks, startedAt: number, { log }: Drive): AgentWork {
  const durationMs = performance.now() - startedAt;
  return { agent, parentId, durationMs, messages: log.state.messages.length, ...calls.work() };
}

function statusOf(end: TurnEnd): Pick<Extract<Moment, { kind: "session-ended" }>, "status" | "error"> {
  if (end.status === "failed") return { status: "error", error: end.message };
  return { status: end.status === "cancelled" ? "aborted" : "completed", error: null };
}
