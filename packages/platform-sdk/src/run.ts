// One prompt given to an agent: follow it, wait for it, cancel it.
import type { Run as WireRun, RunStatus as WireStatus } from "@agentcli/protocol/api";
import type { Connection } from "./connection.ts";
import { type ConversationTurn, openConversation } from "./conversation.ts";
import { UnsupportedRunOperationError } from "./errors.ts";
import { type Followed, followRun, isOver, type RunSource } from "./follow.ts";
import { openMessages, type SDKMessage, type TokenUsage, usageOf } from "./messages.ts";
import type { ModelSelection, SendOptions } from "./options.ts";
import type { Surroundings } from "./surroundings.ts";

export type RunStatus = "running" | "finished" | "error" | "cancelled";
export type RunOperation = "stream" | "wait" | "cancel" | "conversation";
export type RunGit = NonNullable<WireRun["git"]>;

interface RunFacts {
  readonly id: string;
  /** What the platform calls the request that made the run in its log. */
  readonly requestId?: string;
  /** The final message. */
  readonly result?: string;
  readonly error?: { message: string; code?: string };
  readonly model?: ModelSelection;
  readonly durationMs?: number;
  /** Known once the end of the run's stream was read. */
  readonly usage?: TokenUsage;
  /** Branches and pull requests of the agent. */
  readonly git?: RunGit;
}

export interface RunResult extends RunFacts {
  readonly status: Exclude<RunStatus, "running">;
}

/** Its members are as of what was read last: `stream`, `wait`, `conversation` and `onDidChangeStatus` read. */
export interface Run extends RunFacts {
  readonly agentId: string;
  readonly status: RunStatus;
  readonly createdAt?: string;
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
  const { connection, surroundings, signal, model, observers = {} } = context;
  const source = sourceOf(first, connection);
  const state = openState(first, model);

  async function* follow(stop: AbortSignal): AsyncGenerator<Followed> {
    for await (const followed of followRun(source, surroundings.clock, stop)) {
      state.note(followed);
      yield followed;
    }
  }

  async function followToEnd(stop: AbortSignal): Promise<void> {
    for await (const _ of follow(stop));
  }

  async function observe(): Promise<void> {
    const conversation = openConversation();
    for await (const followed of follow(signal)) {
      if (followed.kind !== "frame" || followed.frame.event !== "interaction_update") continue;
      observers.onDelta?.({ update: followed.frame.data });
      for (const step of conversation.add(followed.frame.data)) observers.onStep?.({ step });
    }
  }
  const observing = observers.onDelta || observers.onStep ? observe() : undefined;
  // `wait` throws it; without anybody who waits it is nobody's.
  observing?.catch(() => {});

  const handle: Omit<Run, keyof RunFacts | "status" | "createdAt" | "agentId"> = {
    async *stream() {
      const messages = openMessages(first);
      yield* messages.opening({ requestId: first.requestId, ...(model && { model: model.id }) });
      for await (const followed of follow(signal)) {
        if (followed.kind === "frame") yield* messages.of(followed.frame);
        else yield* messages.closing(state.wireStatus(), state.facts().error?.message);
      }
    },
    async wait() {
      await observing;
      if (state.facts().status === "running") await followToEnd(signal);
      const { agentId: _agent, createdAt: _created, ...facts } = state.facts();
      return facts as RunResult;
    },
    async conversation() {
      const conversation = openConversation();
      for await (const followed of follow(signal)) {
        if (followed.kind === "frame" && followed.frame.event === "interaction_update")
          conversation.add(followed.frame.data);
      }
      const reason = state.unsupported();
      if (reason !== undefined)
        throw new UnsupportedRunOperationError(reason, { code: "stream_expired", operation: "run.conversation" });
      return conversation.turns();
    },
    async cancel() {
      const path = `${pathOf(first)}/cancel`;
      await connection.ask({ operation: "run.cancel", method: "POST", path }, signal);
    },
    supports: (operation) => operation !== "conversation" || state.unsupported() === undefined,
    unsupportedReason: (operation) => (operation === "conversation" ? state.unsupported() : undefined),
    onDidChangeStatus(listener) {
      const unsubscribe = state.listen(listener);
      const leaving = new AbortController();
      const stop = AbortSignal.any([signal, leaving.signal]);
      // What goes wrong is told to whoever waits or streams; a listener has nobody to tell.
      if (state.facts().status === "running") followToEnd(stop).catch(() => {});
      return () => {
        unsubscribe();
        leaving.abort();
      };
    },
  };
  return Object.defineProperties(handle, state.members()) as Run;
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

type Facts = RunFacts & Pick<Run, "agentId" | "status" | "createdAt">;

function openState(first: WireRun, model: ModelSelection | undefined) {
  const listeners = new Set<(status: RunStatus) => void>();
  let wireStatus = first.status;
  let unsupported: string | undefined;
  let facts: Facts = factsOf(first, model);

  function change(status: WireStatus, more: Partial<Facts> = {}): void {
    const before = facts.status;
    // A connection that is behind others says what was.
    if (isOver({ status: wireStatus }) && !isOver({ status })) return;
    wireStatus = status;
    facts = { ...facts, ...more, status: statusOf(status) };
    if (facts.status !== before) for (const listener of [...listeners]) listener(facts.status);
  }

  return {
    facts: () => facts,
    wireStatus: () => wireStatus,
    unsupported: () => unsupported,
    listen(listener: (status: RunStatus) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    note(followed: Followed) {
      if (followed.kind === "late") return change("ERROR", { error: { message: tooLate, code: "timeout" } });
      if (followed.kind === "ended") {
        if (followed.why === "expired")
          unsupported = `The stream of ${first.id} is no longer kept; only its result is.`;
        return change(followed.run.status, factsOf(followed.run, model));
      }
      const { frame } = followed;
      if (frame.event === "status") change(frame.data.status);
      if (frame.event === "result") {
        const { status, runId: _, text, ...more } = frame.data;
        change(status, { ...more, ...(text !== undefined && { result: text }) });
      }
      if (frame.event === "interaction_update" && frame.data.type === "turn-ended" && frame.data.usage)
        facts = { ...facts, usage: usageOf(frame.data.usage) };
    },
    /** Every fact as a member that shows what is known now. */
    members: (): PropertyDescriptorMap =>
      Object.fromEntries(factNames.map((name) => [name, { enumerable: true, get: () => facts[name] }])),
  };
}

const tooLate = "Timed out waiting for the cloud run to finish.";

const factNames = [
  ...["id", "agentId", "status", "createdAt", "requestId", "result", "error", "model", "durationMs", "usage", "git"],
] as (keyof Facts)[];

function factsOf(run: WireRun, model: ModelSelection | undefined): Facts {
  const { id, agentId, createdAt, requestId, result, error, durationMs, git } = run;
  return {
    ...{ id, agentId, createdAt, status: statusOf(run.status) },
    ...(requestId !== undefined && { requestId }),
    ...(result !== undefined && { result }),
    ...(error && { error }),
    ...(model && { model }),
    ...(durationMs !== undefined && { durationMs }),
    ...(git && { git }),
  };
}

const statuses: Record<WireStatus, RunStatus> = {
  CREATING: "running",
  RUNNING: "running",
  FINISHED: "finished",
  CANCELLED: "cancelled",
  ERROR: "error",
  EXPIRED: "error",
};

const statusOf = (status: WireStatus): RunStatus => statuses[status] ?? "error";
