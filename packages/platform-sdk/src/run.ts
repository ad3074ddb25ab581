// One prompt given to an agent: follow it, wait for it, cancel it.
import type { Run as WireRun } from "@agentcli/protocol/api";
import type { Connection } from "./connection.ts";
import { type ConversationTurn, openConversation } from "./conversation.ts";
import { NetworkError, UnsupportedRunOperationError } from "./errors.ts";
import { type Followed, followRun, type RunSource } from "./follow.ts";
import { openMessages, type SDKMessage } from "./messages.ts";
import type { ModelSelection, SendOptions } from "./options.ts";
import { type KnownRun, openState, type RunGit, type RunResult, type RunState, type RunStatus } from "./run-state.ts";
import type { Surroundings } from "./surroundings.ts";

export type { RunGit, RunResult, RunStatus };
export type RunOperation = "stream" | "wait" | "cancel" | "conversation";

/** Its members are as of what was read last: `stream`, `wait`, `conversation` and `onDidChangeStatus` read. */
export interface Run extends KnownRun {
  /** The whole run from its beginning, as it happens. Every call reads anew; leaving the loop closes the connection. */
  stream(): AsyncGenerator<SDKMessage, void>;
  /** Settles when the run is over, however it ended. */
  wait(): Promise<RunResult>;
  /** What was said and done, once the run is over. */
  conversation(): Promise<ConversationTurn[]>;
  cancel(): Promise<void>;
  supports(operation: RunOperation): boolean;
  unsupportedReason(operation: RunOperation): string | undefined;
  /** Follows the run until it is over or the returned function is called. */
  onDidChangeStatus(listener: (status: RunStatus) => void): () => void;
}

export interface RunContext {
  connection: Connection;
  surroundings: Surroundings;
  /** Ends everything that follows the run. */
  signal: AbortSignal;
  model?: ModelSelection;
  /** Told of all that happens from now on, whether or not anybody streams. */
  observers?: Pick<SendOptions, "onDelta" | "onStep">;
}

export function openRun(first: WireRun, context: RunContext): Run {
  const { connection, signal, model } = context;
  const state = openState(first, model);
  const follow = follower(first, state, context);
  const observing = observe(() => follow(signal), context.observers);

  async function* stream(): AsyncGenerator<SDKMessage, void> {
    const messages = openMessages(first);
    yield* messages.opening({ requestId: first.requestId, ...(model && { model: model.id }) });
    for await (const followed of follow(signal)) {
      if (followed.kind === "frame") yield* messages.of(followed.frame);
      else yield* messages.closing(state.wireStatus(), state.known().error?.message);
    }
  }

  async function wait(): Promise<RunResult> {
    await observing;
    if (state.known().status === "running") await exhaust(follow(signal));
    const { agentId: _agent, createdAt: _created, ...facts } = state.known();
    return facts as RunResult;
  }

  function onDidChangeStatus(listener: (status: RunStatus) => void): () => void {
    const unsubscribe = state.listen(listener);
    const leaving = new AbortController();
    // What goes wrong is told to whoever waits or streams; a listener has nobody to tell.
    if (state.known().status === "running") exhaust(follow(AbortSignal.any([signal, leaving.signal]))).catch(() => {});
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
      const path = `${pathOf(first)}/cancel`;
      await connection.ask({ operation: "run.cancel", method: "POST", path }, signal);
    },
    supports: (operation) => operation !== "conversation" || state.unsupported() === undefined,
    unsupportedReason: (operation) => (operation === "conversation" ? state.unsupported() : undefined),
  };
  return Object.defineProperties(handle, state.members()) as Run;
}

type Follow = (stop: AbortSignal) => AsyncGenerator<Followed>;

/** Whoever follows, what comes is noted. */
function follower(run: WireRun, state: RunState, { connection, surroundings }: RunContext): Follow {
  const source = sourceOf(run, connection);
  return async function* (stop) {
    for await (const followed of followRun(source, surroundings.clock, stop)) {
      state.note(followed);
      yield followed;
    }
  };
}

/** Undefined where nobody wants to be told. */
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
      onDelta?.({ update: followed.frame.data });
      for (const step of conversation.add(followed.frame.data)) onStep?.({ step });
    }
  })();
  // `wait` throws it; without anybody who waits it is nobody's.
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

export const pathOf = ({ agentId, id }: Pick<WireRun, "agentId" | "id">): string => `/v1/agents/${agentId}/runs/${id}`;

function sourceOf(run: WireRun, connection: Connection): RunSource {
  const path = pathOf(run);
  return {
    open: (lastEventId, signal) =>
      connection.open(
        {
          operation: "run.stream",
          method: "GET",
          path: `${path}/stream`,
          ...(lastEventId !== undefined && { lastEventId }),
        },
        signal,
      ),
    read: (signal) => connection.ask({ operation: "run.read", method: "GET", path, retry: "never" }, signal),
  };
}
