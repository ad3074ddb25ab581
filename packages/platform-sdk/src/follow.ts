// A run's frames from the first to the result, each once, over as many connections as it takes.
import type { Run as WireRun } from "@agentcli/protocol/api";
import { AuthenticationError, ConfigurationError, PlatformSdkError, UnknownAgentError } from "./errors.ts";
import { readFrame, type StreamFrame } from "./frame.ts";
import { type Position, startOfStream } from "./position.ts";
import type { Clock } from "./runtime.ts";
import { readEvents } from "./sse.ts";

/** Where a run can be seen. */
export interface RunSource {
  /** The bytes of its stream, behind the frames with this id. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  read(signal: AbortSignal): Promise<WireRun>;
}

export type FollowEvent =
  | { kind: "frame"; frame: StreamFrame }
  /** The run is over, and its stream could not be had to the end. */
  | { kind: "ended"; run: WireRun; why: "expired" | "dropped" }
  /** It takes too long to wait for. */
  | { kind: "late" };

const reconnectMs = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
const pollMs = 15_000;
const maxDelayMs = 2 * 60 * 60_000;

export async function* followRun(source: RunSource, clock: Clock, signal: AbortSignal): AsyncGenerator<FollowEvent> {
  const state: FollowState = { source, clock, signal, position: startOfStream(), endsAt: clock.now() + maxDelayMs };
  for (let failures = 0; clock.now() < state.endsAt; failures++) {
    const attempt = yield* readStream(state);
    if (attempt.kind === "over") return;
    const run = await look(state);
    if (run && isOver(run)) return yield* readRest(state, run, attempt.kind);
    if (attempt.kind === "dropped" && attempt.progress === "some") failures = 0;
    const delayMs = attempt.kind === "expired" ? undefined : reconnectMs[failures];
    if (delayMs === undefined) return yield* poll(state, attempt.kind);
    await clock.wait(delayMs, signal);
  }
  yield { kind: "late" };
}

export const isOver = ({ status }: Pick<WireRun, "status">): boolean => status !== "CREATING" && status !== "RUNNING";

interface FollowState {
  source: RunSource;
  clock: Clock;
  signal: AbortSignal;
  position: Position;
  endsAt: number;
}

type Attempt = { kind: "over" } | { kind: "expired" } | { kind: "dropped"; progress: "some" | "none" };

/** One connection, to the result or to where it breaks. Throws errors that another connection would not fix. */
async function* readStream({
  source,
  clock,
  signal,
  position,
  endsAt,
}: FollowState): AsyncGenerator<FollowEvent & { kind: "frame" }, Attempt> {
  let progress: "some" | "none" = "none";
  position.reconnect();
  try {
    for await (const event of readEvents(await source.open(position.resumeId, signal))) {
      const frame = readFrame(event);
      const isNew = position.admit(event.id);
      if (frame?.event === "error") throw streamError(frame.data);
      if (frame && (isNew || frame.event === "result")) yield { kind: "frame", frame };
      if (frame?.event === "result") return { kind: "over" };
      if (event.id !== undefined && isNew) progress = "some";
      if (clock.now() >= endsAt) break;
    }
    return { kind: "dropped", progress };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isCode(error, "stream_expired")) return { kind: "expired" };
    if (isCode(error, "invalid_last_event_id")) position.startAgain();
    else if (isFinal(error)) throw error;
    return { kind: "dropped", progress };
  }
}

/** Null where the platform cannot be asked for the moment. */
async function look({ source, signal }: FollowState): Promise<WireRun | null> {
  try {
    return await source.read(signal);
  } catch (error) {
    if (signal.aborted || isFinal(error)) throw error;
    return null;
  }
}

/** The run ended while no connection was open: the frames since then come first. */
async function* readRest(state: FollowState, run: WireRun, why: "expired" | "dropped"): AsyncGenerator<FollowEvent> {
  const attempt = why === "expired" ? { kind: why } : yield* readStream(state);
  if (attempt.kind !== "over") yield { kind: "ended", run, why: attempt.kind };
}

async function* poll(state: FollowState, why: "expired" | "dropped"): AsyncGenerator<FollowEvent> {
  const { clock, signal, endsAt } = state;
  while (clock.now() < endsAt) {
    await clock.wait(pollMs, signal);
    const run = await look(state);
    if (run && isOver(run)) return yield* readRest(state, run, why);
  }
  yield { kind: "late" };
}

const finalCodes: Record<string, (message: string) => PlatformSdkError> = {
  unauthorized: (message) => new AuthenticationError(message, { code: "unauthorized", operation: "run.stream" }),
  forbidden: (message) => new UnknownAgentError(message, { code: "forbidden", operation: "run.stream", status: 403 }),
  not_found: (message) => new ConfigurationError(message, { code: "not_found", operation: "run.stream" }),
};

function streamError({ code, message }: { code: string; message: string }): Error {
  const known = Object.hasOwn(finalCodes, code) ? finalCodes[code] : undefined;
  return known ? known(message) : new Error(`the stream reported ${code}: ${message}`);
}

const isCode = (error: unknown, code: string): boolean => error instanceof PlatformSdkError && error.code === code;

/** The caller's doing, so that no second attempt would go better. */
const isFinal = (error: unknown): boolean =>
  error instanceof AuthenticationError ||
  error instanceof ConfigurationError ||
  (error instanceof PlatformSdkError && error.status === 403);
