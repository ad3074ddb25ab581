// A local run's frames from the first to the result: from memory where this process drives it, else from its store.
import type { FollowEvent } from "../follow.ts";
import type { LocalAgentStore, LocalRunEvent, LocalRunRecord } from "../local-store.ts";
import type { RunBackend } from "../run.ts";
import type { DrivenRun } from "./driven.ts";
import { settleInterrupted } from "./interrupted.ts";
import type { Machine } from "./machine.ts";

export interface LocalContext {
  machine: Machine;
  store: LocalAgentStore;
  /** Runs of this process, by id. */
  driven: Map<string, DrivenRun>;
}

const lookMs = 100;

export function localBackend(run: LocalRunRecord, context: LocalContext): RunBackend {
  return {
    async *follow(stop) {
      yield { kind: "frame", frame: { event: "status", data: { runId: run.id, status: "RUNNING" } } };
      const driven = context.driven.get(run.id);
      for await (const { frame } of driven ? remembered(driven, stop) : stored(run, context, stop)) {
        if (frame.event === "done") return;
        yield { kind: "frame", frame } satisfies FollowEvent;
      }
    },
    cancel: (signal) => cancelLocal(run, context, signal),
  };
}

/** Settles when the run is over. One that is over already stays as it is. */
export async function cancelLocal(run: LocalRunRecord, context: LocalContext, signal: AbortSignal): Promise<void> {
  const { store, driven, machine } = context;
  const own = driven.get(run.id);
  own?.cancel();
  if (own) return own.settled;
  if (await isOver(run, store)) return;
  await store.runs.requestCancel(run.agentId, run.id);
  while (!(await isOver(run, store))) {
    await settleInterrupted(run.agentId, context);
    await machine.clock.wait(lookMs, signal);
  }
}

const isOver = async ({ agentId, id }: LocalRunRecord, store: LocalAgentStore): Promise<boolean> => {
  const now = (await store.runs.list(agentId)).find((run) => run.id === id);
  return now?.status !== "CREATING" && now?.status !== "RUNNING";
};

async function* remembered(driven: DrivenRun, stop: AbortSignal): AsyncGenerator<LocalRunEvent> {
  for (let read = 0; ; read++) {
    while (read >= driven.events.length) {
      stop.throwIfAborted();
      await driven.more(stop);
    }
    stop.throwIfAborted();
    const event = driven.events[read];
    if (event) yield event;
  }
}

/** Another process drives it, or none does any more. */
async function* stored(run: LocalRunRecord, context: LocalContext, stop: AbortSignal): AsyncGenerator<LocalRunEvent> {
  const { store, machine } = context;
  for (let after = 0; ; ) {
    stop.throwIfAborted();
    const events = await store.runEvents.read(run.agentId, run.id, after);
    yield* events;
    after = events.at(-1)?.seq ?? after;
    if (events.length > 0) continue;
    await settleInterrupted(run.agentId, context);
    await machine.clock.wait(lookMs, stop);
  }
}
