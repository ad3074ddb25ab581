// One prompt given to an agent: follow it, wait for it, cancel it.
import { type ConversationTurn, openConversation } from "./conversation.ts";
import { NetworkError, UnsupportedRunOperationError } from "./errors.ts";
import { type FollowEvent, isOver } from "./follow.ts";
import { openMessages, type SDKMessage } from "./messages.ts";
import type { ModelSelection, SendOptions } from "./options.ts";
import {
  openState,
  type ReportedRun,
  type RunError,
  type RunGit,
  type RunResult,
  type RunResultStatus,
  type RunSnapshot,
  type RunState,
  type RunStatus,
} from "./run-state.ts";

export type { RunError, RunGit, RunResult, RunResultStatus, RunStatus };
export type RunOperation = "stream" | "wait" | "cancel" | "conversation";
/** What became of text sent into a run: its turn got it, or it is for a prompt of its own. */
export type SteerAckOutcome = "complete_delivered" | "revert_to_followup";

/** Its members are as of what was read last: `stream`, `wait`, `conversation` and `onDidChangeStatus` read. */
export interface Run extends RunSnapshot {
  /** The whole run from its beginning, as it happens. Every call reads anew; leaving the loop closes the connection. */
  stream(): AsyncGenerator<SDKMessage, void>;
  /** Settles when the run is over, however it ended. */
  wait(): Promise<RunResult>;
  /** Messages and tool calls, once the run is over. */
  conversation(): Promise<ConversationTurn[]>;
  /** A run that is cancelled already stays so; one that ended otherwise cannot be cancelled. */
  cancel(): Promise<void>;
  /** A run takes no text while it works: send it as the next prompt. */
  steer(text: string): Promise<SteerAckOutcome>;
  supports(operation: RunOperation): boolean;
  unsupportedReason(operation: RunOperation): string | undefined;
  /** Follows the run until it is over or the returned function is called. */
  onDidChangeStatus(listener: (status: RunStatus) => void): () => void;
}

/** Where a run is read from: the platform, or this process. */
export interface RunBackend {
  /** Everything from the first frame to the result, as it happens. Ends with the signal. */
  follow(stop: AbortSignal): AsyncGenerator<FollowEvent>;
  cancel(signal: AbortSignal): Promise<void>;
}

export interface RunContext {
  backend: RunBackend;
  /** Ends everything that follows the run. */
  signal: AbortSignal;
  model?: ModelSelection;
  /** Called with everything from now on, also where no caller streams. */
  observers?: Pick<SendOptions, "onDelta" | "onStep">;
}

export function openRun(first: ReportedRun, context: RunContext): Run {
  const { backend, signal, model } = context;
  const state = openState(first, model);
  const follow = follower(backend, state);
  const observing = observe(() => follow(signal), context.observers);

  async function* stream(): AsyncGenerator<SDKMessage, void> {
    const messages = openMessages(first);
    yield* messages.opening({ requestId: first.requestId, ...(model && { model }) });
    for await (const event of follow(signal)) {
      if (event.kind === "frame") yield* messages.of(event.frame);
      else yield* messages.closing(state.wireStatus(), state.snapshot().error?.message);
    }
  }

  async function wait(): Promise<RunResult> {
    await observing;
    if (!isOver({ status: state.wireStatus() })) await exhaust(follow(signal));
    const { agentId: _agent, createdAt: _created, ...facts } = state.snapshot();
    return facts as RunResult;
  }

  function onDidChangeStatus(listener: (status: RunStatus) => void): () => void {
    const unsubscribe = state.listen(listener);
    const leaving = new AbortController();
    // Errors reach callers of `wait` and `stream`; a listener of the status gets none.
    if (!isOver({ status: state.wireStatus() }))
      exhaust(follow(AbortSignal.any([signal, leaving.signal]))).catch(() => {});
    return () => {
      unsubscribe();
      leaving.abort();
    };
  }

  const handle: Omit<Run, keyof RunSnapshot> = {
    stream,
    wait,
    onDidChangeStatus,
    conversation: () => readConversation(follow(signal), state),
    async cancel() {
      if (state.snapshot().status === "cancelled") return;
      await backend.cancel(signal);
      state.noteCancelled();
    },
    steer: async () => "revert_to_followup",
    supports: (operation) => reasonAgainst(operation, state) === undefined,
    unsupportedReason: (operation) => reasonAgainst(operation, state),
  };
  const run = Object.defineProperties(handle, state.members()) as Run;
  followers.set(run, () => follow(signal));
  return run;
}

const operations: RunOperation[] = ["stream", "wait", "cancel", "conversation"];

function reasonAgainst(operation: RunOperation, state: RunState): string | undefined {
  if (!operations.includes(operation)) return `A run has no operation ${JSON.stringify(operation)}.`;
  return operation === "conversation" ? state.unsupported() : undefined;
}

const followers = new WeakMap<Run, () => AsyncGenerator<FollowEvent>>();

/** What its messages are made from, for the bridge: programs in other languages make of it what this package does. */
export function followedOf(run: Run): AsyncGenerator<FollowEvent> {
  const follow = followers.get(run);
  if (!follow) throw new Error("a run that was not opened here");
  return follow();
}

type Follow = (stop: AbortSignal) => AsyncGenerator<FollowEvent>;

/** Every reader updates the state of the handle. */
function follower(backend: RunBackend, state: RunState): Follow {
  return async function* (stop) {
    for await (const event of backend.follow(stop)) {
      state.note(event);
      yield event;
    }
  };
}

/** Undefined where there are no observers. */
function observe(
  follow: () => AsyncGenerator<FollowEvent>,
  observers: RunContext["observers"],
): Promise<void> | undefined {
  const { onDelta, onStep } = observers ?? {};
  if (!onDelta && !onStep) return undefined;
  const conversation = openConversation();
  const observing = (async () => {
    for await (const event of follow()) {
      if (event.kind !== "frame" || event.frame.event !== "interaction_update") continue;
      await onDelta?.({ update: event.frame.data });
      for (const step of conversation.add(event.frame.data)) await onStep?.({ step });
    }
  })();
  // `wait` throws it; without a caller of `wait` it is dropped.
  observing.catch(() => {});
  return observing;
}

async function readConversation(events: AsyncGenerator<FollowEvent>, state: RunState): Promise<ConversationTurn[]> {
  const operation = "run.conversation";
  const conversation = openConversation();
  for await (const event of events) {
    if (event.kind === "frame") {
      if (event.frame.event === "interaction_update") conversation.add(event.frame.data);
      continue;
    }
    const reason = state.unsupported();
    if (reason !== undefined) throw new UnsupportedRunOperationError(reason, { code: "stream_expired", operation });
    const message = "The run's stream could not be read to its end. Try again.";
    throw new NetworkError(message, { code: "network", isRetryable: true, operation });
  }
  return conversation.turns();
}

async function exhaust(events: AsyncGenerator<FollowEvent>): Promise<void> {
  for await (const _ of events);
}
