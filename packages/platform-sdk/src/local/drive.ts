// One local run from its beginning to its end: driven in this process, written down as it goes.

import { emptyThread, readThread, type ThreadState } from "@agentcli/engine";
import { driveServiceTurn, type ServiceAssembly, serviceTurnRecords } from "@agentcli/host";
import type { HookDefinition, ThreadRecord } from "@agentcli/protocol";
import type { StreamFrame } from "@agentcli/protocol/api";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { type Frame, type FrameWriter, openFrameWriter } from "@agentcli/surfaces/run-stream";
import { PlatformSdkError } from "../errors.ts";
import type { LocalAgentRecord, LocalAgentStore, LocalRunEvent, LocalRunRecord } from "../local-store.ts";
import { usageOf } from "../messages.ts";
import { version } from "../version.ts";
import { type Intent, openAssembly } from "./compose/index.ts";
import type { DrivenRun } from "./driven.ts";
import { sessionsOf } from "./interrupted.ts";
import { endOf, lastFrames, type RunEnd } from "./run-end.ts";

export interface Driving {
  driven: DrivenRun;
  agent: LocalAgentRecord;
  intent: Intent;
  store: LocalAgentStore;
}

/** Never rejects: whatever goes wrong is how the run ends. */
export async function driveRun(driving: Driving): Promise<void> {
  const { driven, intent } = driving;
  const frameWriter = openFrameWriter({
    threadId: driving.agent.agentId,
    turnId: driven.run.id,
    bornAt: new Date(driven.run.createdAt),
    after: 0,
    scrub: intent.scrub,
    insertDeltas: (frames) => keep(frames, driving),
    publish() {},
    // What could not be written is tried again with what follows; if that fails too, the run does.
    onProblem() {},
  });
  const stopWatching = watchForCancel(driving);
  try {
    const end = await execute(driving, frameWriter).catch((error: unknown) => failed(error, driven.signal));
    await finish(end, driving, frameWriter);
  } finally {
    stopWatching();
  }
}

async function execute(driving: Driving, frameWriter: FrameWriter): Promise<RunEnd> {
  const { driven, agent, intent, store } = driving;
  const { signal } = driven;
  const sessions = recorded(driving, frameWriter);
  const threadId = agent.agentId;
  const past = await readThread(sessions, threadId);
  for (const stored of past.records.slice(0, 1)) frameWriter.recall(threadId, stored);
  const isNew = past.state.seq === 0;
  const recordedHooks = (agent.hooks ?? null) as HookDefinition[] | null;
  const { progress: onProgress } = frameWriter;
  const assembly = await openAssembly(
    { intent, thread: isNew ? "new" : "existing", recordedHooks, store: sessions, onProgress },
    signal,
  );
  try {
    if (recordedHooks === null) await store.agents.put({ ...agent, hooks: assembly.hooks });
    const state = isNew ? emptyThread(threadId) : past.state;
    const log = assembly.openLog(state, () => {});
    await log.write(...(await firstRecords(state, { runId: driven.run.id, threadId, intent, assembly })));
    return endOf(await driveServiceTurn(log, assembly, signal));
  } finally {
    await assembly.close();
  }
}

interface FirstTurn {
  runId: string;
  threadId: string;
  intent: Intent;
  assembly: ServiceAssembly;
}

function firstRecords(state: ThreadState, { runId, threadId, intent, assembly }: FirstTurn): Promise<ThreadRecord[]> {
  const { settings, message, mode, options, chosen } = intent;
  return serviceTurnRecords(state, {
    ...{ runId, threadId, settings, mode, assembly },
    prompt: typeof message === "string" ? { text: message } : message,
    traits: { freeformTools: chosen.facts.freeform, stringEdits: !chosen.facts.patches },
    program: { name: "platform-sdk", version },
    systemPrompt: options.systemPrompt,
    onMove: "announce",
  });
}

/** Checkpoints first: what readers are shown has happened. */
function recorded(driving: Driving, frameWriter: FrameWriter): ReturnType<typeof sessionsOf> {
  const { agent, store } = driving;
  const { checkpoints } = store;
  const sessions = sessionsOf(agent.agentId, store);
  return {
    ...sessions,
    async append(threadId, after, records) {
      const at = new Date().toISOString();
      const stored = records.map((record, index) => ({ seq: after + index + 1, at, record }));
      await frameWriter.record(threadId, stored, async (frames) => {
        await checkpoints.append(agent.agentId, threadId, stored);
        await keep(frames, driving);
      });
      return stored;
    },
  };
}

async function keep(frames: Frame[], { driven, store }: Driving): Promise<void> {
  if (frames.length === 0) return;
  const events = frames.map(
    ({ seq, event, data }): LocalRunEvent => ({ seq, frame: { event, data: JSON.parse(data) } as StreamFrame }),
  );
  await store.runEvents.append(driven.run.agentId, driven.run.id, events);
  driven.add(events);
}

function failed(error: unknown, signal: AbortSignal): RunEnd {
  if (signal.aborted) return { status: "CANCELLED" };
  const { message } = error instanceof Error ? error : { message: String(error) };
  return { status: "ERROR", error: { code: codeOf(error), message } };
}

function codeOf(error: unknown): string {
  if (error instanceof PlatformSdkError) return error.code;
  return error instanceof SandboxUnavailable ? "sandbox_unavailable" : "internal";
}

/** Readers get the end in any case, also where nothing can be written any more. */
async function finish(end: RunEnd, driving: Driving, frameWriter: FrameWriter): Promise<void> {
  const { driven, store } = driving;
  const endedAt = new Date();
  const durationMs = endedAt.getTime() - Date.parse(driven.run.createdAt);
  try {
    await frameWriter.conclude([lastFrames(end, driven.run.id, durationMs)], (frames) => keep(frames, driving));
    const usage = usageIn(driven.events);
    await store.runs.put({ ...driven.run, ...end, ...usage, durationMs, updatedAt: endedAt.toISOString() });
  } catch (error) {
    const lost = { code: "store", message: `The run could not be saved: ${(error as Error).message}` };
    const frames = lastFrames({ status: "ERROR", error: lost }, driven.run.id, durationMs);
    driven.add(frames.map((frame, index) => ({ seq: driven.events.length + 1 + index, frame })));
  }
}

function usageIn(events: readonly LocalRunEvent[]): Pick<LocalRunRecord, "usage"> {
  for (const { frame } of events)
    if (frame.event === "interaction_update" && frame.data.type === "turn-ended" && frame.data.usage)
      return { usage: usageOf(frame.data.usage) };
  return {};
}

const lookMs = 200;

/** Another process may want it to stop. */
function watchForCancel({ driven, store }: Driving): () => void {
  const { agentId, id } = driven.run;
  const timer = setInterval(() => {
    store.runs.isCancelRequested(agentId, id).then(
      (isRequested) => isRequested && driven.cancel(),
      // A store that cannot be read for a moment is asked again.
      () => {},
    );
  }, lookMs).unref();
  return () => clearInterval(timer);
}
