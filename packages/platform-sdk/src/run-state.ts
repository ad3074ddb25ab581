// What is known of a run: the newest of what its streams and the platform said.
import type { Run as WireRun, RunStatus as WireStatus } from "@agentcli/protocol/api";
import { type FollowEvent, isOver } from "./follow.ts";
import { type TokenUsage, usageOf } from "./messages.ts";
import type { ModelSelection } from "./options.ts";

export type RunStatus = "running" | "finished" | "error" | "cancelled";
export type RunGit = NonNullable<WireRun["git"]>;

export interface RunError {
  message: string;
  code?: string;
}

export interface RunFacts {
  readonly id: string;
  /** What the platform calls the request that made the run in its log. */
  readonly requestId?: string;
  /** The final message. */
  readonly result?: string;
  readonly error?: RunError;
  readonly model?: ModelSelection;
  readonly durationMs?: number;
  /** Known once the end of the run's stream was read. */
  readonly usage?: TokenUsage;
  /** Branches and pull requests of the agent. */
  readonly git?: RunGit;
}

export type RunResultStatus = Exclude<RunStatus, "running">;

export interface RunResult extends RunFacts {
  readonly status: RunResultStatus;
}

export interface RunSnapshot extends RunFacts {
  readonly agentId: string;
  readonly status: RunStatus;
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
}

/** As the platform reports it, or as this machine keeps it. */
export type ReportedRun = WireRun & { usage?: TokenUsage };

export interface RunState {
  snapshot(): RunSnapshot;
  wireStatus(): WireStatus;
  /** Why there can be no conversation any more; undefined while there can. */
  unsupported(): string | undefined;
  /** Returns what ends the listening. */
  listen(listener: (status: RunStatus) => void): () => void;
  note(event: FollowEvent): void;
  /** The platform has accepted the cancellation; what is read later may still be another end. */
  noteCancelled(): void;
  /** Every fact as a member that shows what is known now. */
  members(): PropertyDescriptorMap;
}

export function openState(first: ReportedRun, model: ModelSelection | undefined): RunState {
  const listeners = new Set<(status: RunStatus) => void>();
  let wireStatus = first.status;
  let unsupported: string | undefined;
  let isCancelled = false;
  let facts: RunSnapshot = factsOf(first, model);

  function change(status: WireStatus, more: Partial<RunSnapshot> = {}): void {
    const before = facts.status;
    // A connection that is behind others says what was.
    if (isOver({ status: wireStatus }) && !isOver({ status })) return;
    wireStatus = status;
    const isEnding = isCancelled && !isOver({ status });
    facts = { ...facts, ...more, status: isEnding ? "cancelled" : statusOf(status) };
    if (facts.status !== before) for (const listener of [...listeners]) listener(facts.status);
  }

  return {
    snapshot: () => facts,
    wireStatus: () => wireStatus,
    unsupported: () => unsupported,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    note(event) {
      if (event.kind === "late") return change("ERROR", { error: { message: tooLate, code: "timeout" } });
      if (event.kind === "ended") {
        if (event.why === "expired") unsupported = `The stream of ${first.id} is no longer kept; only its result is.`;
        return change(event.run.status, factsOf(event.run, model));
      }
      const { frame } = event;
      if (frame.event === "status") change(frame.data.status);
      if (frame.event === "result") {
        const { status, runId: _, text, ...more } = frame.data;
        change(status, { ...more, ...(text !== undefined && { result: text }) });
      }
      if (frame.event === "interaction_update" && frame.data.type === "turn-ended" && frame.data.usage)
        facts = { ...facts, usage: usageOf(frame.data.usage) };
    },
    noteCancelled() {
      isCancelled = true;
      change(wireStatus);
    },
    members: () => Object.fromEntries(factNames.map((name) => [name, { enumerable: true, get: () => facts[name] }])),
  };
}

const tooLate = "Timed out waiting for the cloud run to finish.";

const factNames = [
  ...["id", "agentId", "status", "createdAt", "requestId", "result", "error", "model", "durationMs", "usage", "git"],
] as (keyof RunSnapshot)[];

function factsOf(run: ReportedRun, model: ModelSelection | undefined): RunSnapshot {
  const { id, agentId, createdAt, requestId, result, error, durationMs, usage, git } = run;
  return {
    ...{ id, agentId, createdAt: Date.parse(createdAt), status: statusOf(run.status) },
    ...(requestId !== undefined && { requestId }),
    ...(result !== undefined && { result }),
    ...(error && { error }),
    ...(model && { model }),
    ...(durationMs !== undefined && { durationMs }),
    ...(usage && { usage }),
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
