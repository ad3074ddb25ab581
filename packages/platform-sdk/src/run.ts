// One prompt given to an agent: follow it, wait for it, cancel it.
import { type ConversationTurn, openConversation } from "./conversation.ts";
import { NetworkError, UnsupportedRunOperationError } from "./errors.ts";
import { type Followed, isOver } from "./follow.ts";
import { openMessages, type SDKMessage } from "./messages.ts";
import type { ModelSelection, SendOptions } from "./options.ts";
import {
  type KnownRun,
  openState,
  type ReportedRun,
  type RunError,
  type RunGit,
  type RunResult,
  type RunResultStatus,
  type RunState,
  type RunStatus,
} from "./run-state.ts";

export type { RunError, RunGit, RunResult, RunResultStatus, RunStatus };
export type RunOperation = "stream" | "wait" | "cancel" | "conversation";
/** What became of text sent into a run: its turn got it, or it is for a prompt of its own. */
export type SteerAckOutcome = "complete_delivered" | "revert_to_followup";

/** Its members are as of what was read last: `stream`, `wait`, `conversation` and `onDidChangeStatus` read. */
export interface Run extends KnownRun {
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
  follow(stop: AbortSignal): AsyncGenerator<Followed>;
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
    for await (const followed of follow(signal)) {
      if (followed.kind === "frame") yield* messages.of(followed.frame);
      else yield* messages.closing(state.wireStatus(), state.known().error?.message);
    }
  }

  async function wait(): Promise<RunResult> {
    await observing;
    if (!isOver({ status: state.wireStatus() })) await exhaust(follow(signal));
    const { agentId: _agent, createdAt: _created, ...facts } = state.known();
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

  const handle: Omit<Run, keyof KnownRun> = {
    stream,
    wait,
    onDidChangeStatus,
    conversation: () => readConversation(follow(signal), state),
    async cancel() {
      if (state.known().status === "cancelled") return;
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

const followers = new WeakMap<Run, () => AsyncGenerator<Followed>>();

/** What its messages are made from, for the bridge: programs in other languages make of it what this package does. */
export function followedOf(run: Run): AsyncGenerator<Followed> {
  const follow = followers.get(run);
  if (!follow) throw new Error("a run that was not opened here");
  return follow();
}

type Follow = (stop: AbortSignal) => AsyncGenerator<Followed>;

/** Every reader updates the state of the handle. */
function follower(backend: RunBackend, state: RunState): Follow {
  return async function* (stop) {
    for await (const followed of backend.follow(stop)) {
      state.note(followed);
      yield followed;
    }
  };
}

/** Undefined where there are no observers. */
function observe(
  follow: () => AsyncGenerator<Followed>,
  observers: RunContext["observers"],
): Promise<void> | undefined {
  const { onDelta, onStep } = observers ?? {};
  if (!onDelta && !onStep) return undefined;
  const conversation = openConversation();
  const observing = (async () => {
    for await (const followed of follow()) {
      if (followed.kind !== "frame" || followed.frame.event !== "interaction_update") continue;
      await onDelta?.({ update: followed.frame.data });
      for (const step of conversation.add(followed.frame.data)) await onStep?.({ step });
    }
  })();
  // `wait` throws it; without a caller of `wait` it is dropped.
  observing.catch(() => {});
  return observing;
}

async function readConversation(following: AsyncGenerator<Followed>, state: RunState): Promise<ConversationTurn[]> {
  const operation = "run.conversation";
  const conversation = openConversation();
  for await (const followed of following) {
    if (followed.kind === "frame") {
      if (followed.frame.event === "interaction_update") conversation.add(followed.frame.data);
      continue;
    }
    const reason = state.unsupported();
    if (reason !== undefined) throw new UnsupportedRunOperationError(reason, { code: "stream_expired", operation });
    const message = "The run's stream could not be read to its end. Try again.";
    throw new NetworkError(message, { code: "network", isRetryable: true, operation });
  }
  return conversation.turns();
}

async function exhaust(following: AsyncGenerator<Followed>): Promise<void> {
  for await (const _ of following);
}
