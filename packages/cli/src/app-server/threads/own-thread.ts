// A thread this server carries out: its log, what it keeps open between turns, one turn at a time.
import { abandonTurn, apply, emptyThread, type Log, type StoredRecord, type ThreadState } from "@agentcli/engine";
import type { TurnError } from "@agentcli/protocol/app-server";
import { driveToEnd, newsOf, withLimits } from "../../carry-out.ts";
import { recordedIn } from "../../follow-up.ts";
import type { Reporter } from "../../output/reporter.ts";
import type { Program } from "../../program.ts";
import type { Run } from "../../run.ts";
import type { RunOptions } from "../../run-options.ts";
import { readNames } from "../../sessions/names.ts";
import { findSessionPath } from "../../sessions/paths.ts";
import type { FileStore } from "../../sessions/store.ts";
import { newId } from "../../sessions/thread-id.ts";
import { invalidRequest } from "../method.ts";
import { openApprover } from "./approver.ts";
import { openAudience } from "./audience.ts";
import { type ChildThread, openChildThread } from "./child-thread.ts";
import { elicitation } from "./elicitation.ts";
import { newFacts, noteFacts } from "./facts.ts";
import type { Instructions } from "./instructions.ts";
import { type KeptRun, keepRun } from "./kept-run.ts";
import { asResting, type LiveThread, openView, wireThread } from "./live.ts";
import { openingRecords, type TurnRequest, turnRun } from "./opening.ts";
import { announceServers } from "./startup.ts";
import { freshTurn, openTurn, type RunningTurn } from "./turn.ts";
import type { Wish } from "./wishes.ts";

export interface OwnThread extends LiveThread {
  readonly kind: "own";
  run(): Run;
  /** The turn under way. */
  turn(): RunningTurn | null;
  /** Whether there is a history to summarise. */
  canCompact(): boolean;
  /** Holds for the turns to come. */
  change(wish: Wish): Promise<void>;
  /** Everything that can be refused has been when this settles; the turn goes when it is told to begin. */
  start(request: TurnRequest): Promise<StartedTurn>;
  /** Everything in its log, where no file has it. */
  records(): StoredRecord[];
  /** The next turn begins with what is configured then. */
  renew(): void;
  /** Tells the audience how its MCP servers come up. */
  announce(): void;
  close(): Promise<void>;
}

export interface StartedTurn {
  turn: ReturnType<typeof freshTurn>;
  begin(): void;
}

export interface OwnThreadRequest {
  id: string;
  options: RunOptions;
  instructions: Instructions;
  store: FileStore;
  /** Of a thread that goes on. */
  past: StoredRecord[];
}

export interface OwnThreadHost {
  program: Program;
  /** A sub-agent has come to life, or a thread has been forsaken. */
  adopt(child: ChildThread): void;
  onForsaken(id: string): void;
}

// Over 60 lines because everything in it works on one thread: its state, its turn, and who hears of both.
export async function openOwnThread(request: OwnThreadRequest, host: OwnThreadHost): Promise<OwnThread> {
  const { id, store } = request;
  const { environment, scrub, version } = host.program;
  const state: ThreadState = emptyThread(id);
  const view = openView(id, scrub, () => window());
  const facts = newFacts(version);
  const audience = openAudience(() => host.onForsaken(id));
  const children = new Map<string, ChildThread>();
  const ended = new AbortController();
  let window: () => number | null = () => null;
  let current: { running: RunningTurn; log: Log | null; hasEnded: boolean } | null = null;

  const take = (stored: StoredRecord) => {
    noteFacts(facts, stored);
    return view.apply(stored);
  };
  for (const stored of request.past) {
    apply(state, stored);
    take(stored);
  }
  const warn = (message: string) => audience.tell([{ method: "warning", params: { threadId: id, message } }]);
  const show = async (stored: StoredRecord) => {
    if (stored.record.type === "turn.ended" && current) current.hasEnded = true;
    audience.tell(take(stored));
    await audience.room();
  };
  const reporter: Reporter = {
    recall: (stored) => void take(stored),
    show,
    finish: async () => {},
    fail: async (message) => warn(message),
    say: warn,
  };
  const asked = () => current?.running.client ?? null;
  const approver = openApprover({
    asked,
    cancel: (reason) => current?.running.stop(reason),
    agentHome: environment.agentHome,
    warn,
  });
  const elicit = elicitation({
    threadId: id,
    asked,
    warn,
    turn: () => (current?.log ? { running: current.running, log: current.log } : null),
  });
  const kept: KeptRun = await keepRun(request.options, {
    program: { ...host.program, reporter, signal: ended.signal },
    onOpened: (run) => announceServers(run, id, audience.tell),
    around: () => ({
      store,
      recorded: state.seq === 0 ? null : recordedIn(state),
      company: { approver, elicit, watch, onProgress: (progress) => audience.tell(view.progress(progress)) },
    }),
  });
  window = () => kept.now().contextWindow;
  if (state.seq === 0) Object.assign(facts, { cwd: kept.now().settings.cwd, provider: kept.now().settings.provider });

  function watch(childId: string): ChildThread {
    const known = children.get(childId);
    if (known) return known;
    const childHost = { rootId: id, version, scrub, watchers: audience.members, path: pathOf, onRest: letGo };
    const child = openChildThread(childId, store.readNow(childId), childHost);
    children.set(childId, child);
    host.adopt(child);
    return child;
  }

  const pathOf = (threadId: string) => findSessionPath(environment.agentHome, threadId);

  /** Other programs may go on with the thread while nothing happens in it here. */
  function letGo(): void {
    if (!current && ![...children.values()].some((child) => child.isAtWork())) store.close();
  }

  /** What another program has added to the thread meanwhile. */
  async function catchUp(): Promise<void> {
    if (state.seq === 0) return;
    store.claim(id);
    for await (const batch of store.read(id, state.seq)) {
      for (const stored of batch) {
        apply(state, stored);
        audience.tell(take(stored));
      }
    }
  }

  async function prepare(turn: TurnRequest, running: RunningTurn): Promise<() => void> {
    await kept.change(turn.wish);
    const run = turn.adjust ? await kept.borrow(turn.adjust) : kept.now();
    await catchUp();
    const past = run.openLog(state, reporter.recall);
    await past.write(...abandonTurn(state, { status: "cancelled", reason: cutOff }));
    const isFirst = turn.adjust !== undefined || kept.isFresh();
    const place = { threadId: id, turnId: running.id, instructions: request.instructions };
    const records = await openingRecords(turn, { state, run, isFirst }, place);
    return () => void carryOut(turn, run, records);
  }

  async function carryOut(turn: TurnRequest, run: Run, records: Parameters<Log["write"]>): Promise<void> {
    if (!current) return;
    const { running } = current;
    const log = run.openLog(state, show);
    current.log = log;
    try {
      kept.used();
      await log.write(...records, ...newsOf(run));
      const ready = await turnRun(run, turn, { state, running });
      await withLimits(run, running.signal, (limited) => driveToEnd(log, ready, limited));
    } catch (error) {
      audience.tell([failure(id, running.id, error as Error)]);
    } finally {
      if (run !== kept.now()) await run.close();
      settle(running);
    }
  }

  function settle(running: RunningTurn): void {
    current = null;
    running.finish();
    letGo();
    const late = running.heed();
    if (late.length === 0 || running.signal.aborted || ended.signal.aborted) return;
    // Said in the moment the turn ended: it is answered all the same.
    const input = late.flatMap((piece) => piece.input);
    start({ kind: "work", client: running.client, wish: {}, open: () => ({ input }) }).then(
      ({ begin }) => begin(),
      (error: Error) => warn(error.message),
    );
  }

  async function start(turn: TurnRequest): Promise<StartedTurn> {
    while (current?.hasEnded) await current.running.over;
    if (current) throw busy(current.running.id);
    if (ended.signal.aborted) throw invalidRequest(`thread ${id} is being closed`);
    const running = openTurn(newId(Date.now()), turn.kind, turn.client);
    current = { running, log: null, hasEnded: false };
    try {
      const begin = await prepare(turn, running);
      return { turn: freshTurn(running.id), begin };
    } catch (error) {
      current = null;
      running.finish();
      letGo();
      throw error;
    }
  }

  /** What was done is done: trouble here is worth a word and no more. */
  async function endSession(): Promise<void> {
    const { dependencies, openLog } = kept.now();
    if (!dependencies.hooks || !state.end) return;
    const log = openLog(state, reporter.recall);
    const around = { ...dependencies, log, signal: AbortSignal.timeout(patienceMs), reservations: new Map() };
    await dependencies.hooks.endSession(state.end, around).catch((error: Error) => warn(error.message));
  }

  return {
    kind: "own",
    id,
    view,
    audience,
    run: kept.now,
    turn: () => (current && !current.hasEnded ? current.running : null),
    canCompact: () => state.repliesSinceCompaction > 0,
    change: (wish) => (current ? Promise.resolve() : kept.change(wish)),
    start,
    records: () => store.readNow(id),
    renew: kept.renew,
    announce: () => announceServers(kept.now(), id, audience.tell),
    describe: (turns) =>
      wireThread({
        ...facts,
        id,
        name: readNames(environment.agentHome).get(id) ?? null,
        path: pathOf(id),
        ephemeral: request.options.ephemeral,
        status: current ? view.status() : { type: "idle" },
        turns: turns === "without turns" ? [] : current ? view.turns() : asResting(view.turns()),
      }),
    async close() {
      ended.abort();
      current?.running.stop("The server has ended.");
      await current?.running.over;
      await endSession();
      await kept.close();
      store.close();
    },
  };
}

/** Whoever ends the server does not wait long for hooks. */
const patienceMs = 3_000;

const cutOff = "The run was interrupted and a new prompt was given.";

const busy = (turnId: string): Error =>
  invalidRequest(`turn ${turnId} is in progress; add to it with turn/steer or end it with turn/interrupt`);

/** The log cannot be written, so the turn is not in it. */
const failure = (threadId: string, turnId: string, { message }: Error) => {
  const error: TurnError = { message, errorInfo: "internalServerError", codexErrorInfo: "internalServerError" };
  return { method: "error" as const, params: { error, willRetry: false, threadId, turnId } };
};
