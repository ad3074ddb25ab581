// The turns of a thread: one at a time, prepared, driven to its end, and followed by input that came too late for it.
import { abandonTurn, type Log } from "@agentcli/engine";
import { driveToEnd, type Reporter, type Run, takeNotes, withLimits } from "@agentcli/host";
import { newId } from "@agentcli/host/sessions";
import type { Turn, TurnError } from "@agentcli/protocol/app-server";
import { invalidRequest } from "../method.ts";
import type { Audience } from "./audience.ts";
import type { History } from "./history.ts";
import type { Instructions } from "./instructions.ts";
import { openingRecords, type TurnRequest, turnRun } from "./opening.ts";
import type { ThreadRun } from "./thread-run.ts";
import { freshTurn, openTurn, type RunningTurn } from "./turn.ts";

export interface Turns {
  /** Whether one is being prepared, driven or closed. */
  isBusy(): boolean;
  /** The turn under way, until its end is in the log. */
  active(): RunningTurn | null;
  /** The current turn, also while it closes. */
  current(): { running: RunningTurn; log: Log | null } | null;
  /** Its end is in the log; only cleaning up is left. */
  noteEnd(): void;
  /** Everything that can be refused has been refused when this settles; the turn runs when `begin` is called. */
  start(request: TurnRequest): Promise<StartedTurn>;
  /** No more turns; settles when nothing of the current one is left. */
  close(reason: string): Promise<void>;
}

export interface StartedTurn {
  turn: Turn;
  begin(): void;
}

export interface TurnsOptions {
  id: string;
  history: History;
  instructions: Instructions;
  audience: Audience;
  reporter: Reporter;
  threadRun(): ThreadRun;
  /** Of the program. */
  version: string;
  /** Aborted when the thread is closed. */
  signal: AbortSignal;
  /** The thread rests: other programs may continue it. */
  onRest(): void;
}

interface CurrentTurn {
  running: RunningTurn;
  log: Log | null;
  hasEnded: boolean;
}

export function openTurns(options: TurnsOptions): Turns {
  const { id, reporter, onRest } = options;
  let current: CurrentTurn | null = null;
  let isClosed = false;

  async function start(request: TurnRequest): Promise<StartedTurn> {
    while (current?.hasEnded) await current.running.over;
    if (current) throw busy(current.running.id);
    if (isClosed) throw invalidRequest(`thread ${id} is being closed`);
    const running = openTurn(newId(Date.now()), request.kind, request.client);
    const mine: CurrentTurn = { running, log: null, hasEnded: false };
    current = mine;
    try {
      const prepared = await prepareTurn(request, running, options);
      const begin = () => void driveTurn(request, mine, prepared, options).finally(() => settle(running));
      return { turn: freshTurn(running.id), begin };
    } catch (error) {
      rest(running);
      throw error;
    }
  }

  function rest(running: RunningTurn): void {
    current = null;
    running.finish();
    onRest();
  }

  /** Input that arrived as the turn ended gets its own turn. */
  function settle(running: RunningTurn): void {
    rest(running);
    const late = running.drain();
    if (late.length === 0 || running.signal.aborted || isClosed) return;
    const input = late.flatMap((piece) => piece.input);
    start({ kind: "work", client: running.client, change: {}, open: () => ({ input }) }).then(
      ({ begin }) => begin(),
      (error: Error) => reporter.log(error.message),
    );
  }

  return {
    isBusy: () => current !== null,
    active: () => (current && !current.hasEnded ? current.running : null),
    current: () => current,
    noteEnd() {
      if (current) current.hasEnded = true;
    },
    start,
    async close(reason) {
      isClosed = true;
      current?.running.stop(reason);
      await current?.running.over;
    },
  };
}

interface PreparedTurn {
  run: Run;
  records: Parameters<Log["write"]>;
}

async function prepareTurn(
  request: TurnRequest,
  running: RunningTurn,
  { id, history, version, instructions, audience, reporter, threadRun, signal }: TurnsOptions,
): Promise<PreparedTurn> {
  const { state } = history;
  await threadRun().change(request.change);
  const run = request.adjust ? await threadRun().borrow(request.adjust) : threadRun().now();
  await history.catchUp(audience.notify);
  const past = run.openLog(state, reporter.recall);
  await past.write(...abandonTurn(state, { status: "cancelled", reason: cutOff }));
  const isFirst = request.adjust !== undefined || threadRun().isFresh();
  const context = { threadId: id, turnId: running.id, version, instructions, signal };
  return { run, records: await openingRecords(request, { state, run, isFirst }, context) };
}

async function driveTurn(
  request: TurnRequest,
  current: CurrentTurn,
  { run, records }: PreparedTurn,
  { id, history: { state }, audience, reporter, threadRun }: TurnsOptions,
): Promise<void> {
  const { running } = current;
  const log = run.openLog(state, reporter.show);
  current.log = log;
  try {
    threadRun().used();
    await log.write(...records, ...takeNotes(run));
    const ready = await turnRun(run, request, { state, running });
    const { show } = reporter;
    const prompt = state.turn?.prompt ?? "";
    const end = await withLimits(run.timeLimits, running.signal, (signal) => driveToEnd(log, ready, { signal, show }));
    const turn = { threadId: id, turnId: running.id, cwd: run.settings.cwd, prompt };
    if (end.status === "completed") await run.notify?.({ ...turn, message: end.message });
  } catch (error) {
    audience.notify([failure(id, running.id, error as Error)]);
  } finally {
    if (run !== threadRun().now()) await run.close();
  }
}

const cutOff = "The run was interrupted and a new prompt was given.";

const busy = (turnId: string): Error =>
  invalidRequest(`turn ${turnId} is in progress; add to it with turn/steer or end it with turn/interrupt`);

/** The log cannot be written, so the turn is not in it. */
const failure = (threadId: string, turnId: string, { message }: Error) => {
  const error: TurnError = { message, errorInfo: "internalServerError", codexErrorInfo: "internalServerError" };
  return { method: "error" as const, params: { error, willRetry: false, threadId, turnId } };
};
