// A thread that this server drives, as its methods use it: history, turns, sub-agents and what stays open between turns.
import type { StoredRecord } from "@agentcli/engine";
import { type Reporter, type Run, type RunOptions, recordedIn } from "@agentcli/host";
import { readNames } from "@agentcli/host/session-files";
import { type FileStore, findSessionPath } from "@agentcli/host/sessions";
import type { Agent, Program } from "../program.ts";
import { openApprover } from "./approver.ts";
import { type Audience, openAudience } from "./audience.ts";
import type { ChildThread } from "./child-thread.ts";
import { openChildren } from "./children.ts";
import { elicitation } from "./elicitation.ts";
import { type History, openHistory } from "./history.ts";
import type { Instructions } from "./instructions.ts";
import { asResting, type LiveThread, wireThread } from "./live.ts";
import type { SettingsChange } from "./settings-change.ts";
import { announceServers } from "./startup.ts";
import { openThreadRun, type ThreadRun } from "./thread-run.ts";
import type { RunningTurn } from "./turn.ts";
import { openTurns, type Turns } from "./turns.ts";

export interface OwnThread extends LiveThread {
  readonly kind: "own";
  run(): Run;
  /** The turn under way. */
  turn(): RunningTurn | null;
  /** Whether there is a history to summarise. */
  canCompact(): boolean;
  /** Applies to the turns to come. */
  change(change: SettingsChange): Promise<void>;
  start: Turns["start"];
  /** Everything in its log, where no file has it. */
  records(): StoredRecord[];
  /** The next turn begins with the configuration of that moment. */
  renew(): void;
  /** Notifies the clients of how its MCP servers start. */
  announce(): void;
  close(): Promise<void>;
}

export interface OwnThreadRequest {
  id: string;
  options: RunOptions;
  instructions: Instructions;
  store: FileStore;
  /** Records of a thread that is continued. */
  past: StoredRecord[];
}

export interface OwnThreadHost {
  program: Program;
  agent: Agent;
  /** A sub-agent has been started. */
  register(child: ChildThread): void;
  /** The last client has left. */
  onUnwatched(id: string): void;
}

export async function openOwnThread(request: OwnThreadRequest, host: OwnThreadHost): Promise<OwnThread> {
  const { id, store, instructions } = request;
  const { scrub, version } = host.program;
  const ended = new AbortController();
  const audience = openAudience(() => host.onUnwatched(id));
  let threadRun: ThreadRun | null = null;
  const requireRun = () => {
    if (!threadRun) throw new Error(`thread ${id} is used before its run is open`);
    return threadRun;
  };
  const contextWindow = () => threadRun?.now().contextWindow ?? null;
  const history = openHistory({ ...request, scrub, version, contextWindow });
  const reporter = threadReporter(id, history, audience, () => turns.noteEnd());
  const children = openChildren({ id, store, audience, ...host, onRest: () => release() });
  const turns = openTurns({
    ...{ id, history, version, instructions, audience, reporter },
    threadRun: requireRun,
    onRest: () => release(),
    signal: ended.signal,
  });
  /** While nothing happens in the thread here, other programs may continue it. */
  const release = () => {
    if (!turns.isBusy() && !children.areAtWork()) store.close();
  };
  const callbacks = clientCallbacks(id, turns, { agentHome: host.program.environment.agentHome, warn: reporter.log });
  threadRun = await openThreadRun(request.options, {
    runs: host.agent.runs,
    reporting: { reporter, signal: ended.signal },
    onOpened: (run) => announceServers(run, id, audience.notify),
    context: () => ({
      store,
      recorded: history.state.seq === 0 ? null : recordedIn(history.state),
      callbacks: {
        ...callbacks,
        warn: reporter.log,
        watch: children.watch,
        onProgress: (progress) => audience.notify(history.view.progress(progress)),
      },
    }),
  });
  const { cwd, provider } = threadRun.now().settings;
  if (history.state.seq === 0) Object.assign(history.facts, { cwd, provider });
  return face({ request, host, history, audience, turns, threadRun, reporter, stop: () => ended.abort() });
}

/** What a run reports, as notifications of the thread. */
function threadReporter(id: string, history: History, audience: Audience, onTurnEnded: () => void): Reporter {
  const warn = (message: string) => audience.notify([{ method: "warning", params: { threadId: id, message } }]);
  return {
    recall: (stored) => void history.add(stored),
    async show(stored) {
      if (stored.record.type === "turn.ended") onTurnEnded();
      audience.notify(history.add(stored));
      await audience.room();
    },
    finish: async () => {},
    fail: async (message) => warn(message),
    log: warn,
  };
}

/** Approvals and questions of MCP servers go to the client that started the turn. */
function clientCallbacks(
  threadId: string,
  turns: Turns,
  { agentHome, warn }: { agentHome: string; warn(message: string): void },
) {
  const asked = () => turns.current()?.running.client ?? null;
  const cancel = (reason: string) => turns.current()?.running.stop(reason);
  const turn = () => {
    const { running, log } = turns.current() ?? {};
    return running && log ? { running, log } : null;
  };
  return {
    approver: openApprover({ asked, cancel, agentHome, warn }),
    elicit: elicitation({ threadId, asked, warn, turn }),
  };
}

interface ThreadParts {
  request: OwnThreadRequest;
  host: OwnThreadHost;
  history: History;
  audience: Audience;
  turns: Turns;
  threadRun: ThreadRun;
  reporter: Reporter;
  /** Aborts what the thread has open. */
  stop(): void;
}

function face(parts: ThreadParts): OwnThread {
  const { request, history, audience, turns, threadRun, stop } = parts;
  const { id, store } = request;
  return {
    kind: "own",
    id,
    view: history.view,
    audience,
    run: threadRun.now,
    turn: turns.active,
    canCompact: () => history.state.repliesSinceCompaction > 0,
    change: (change) => (turns.isBusy() ? Promise.resolve() : threadRun.change(change)),
    start: turns.start,
    records: () => store.readNow(id),
    renew: threadRun.renew,
    announce: () => announceServers(threadRun.now(), id, audience.notify),
    describe: (shown) => describe(parts, shown),
    async close() {
      stop();
      await turns.close("The server has ended.");
      await endSession(parts);
      await threadRun.close();
      store.close();
    },
  };
}

function describe(
  { request, host, history, turns }: ThreadParts,
  shown: Parameters<LiveThread["describe"]>[0],
): ReturnType<LiveThread["describe"]> {
  const { id, options } = request;
  const { agentHome } = host.program.environment;
  const { view, facts } = history;
  const isBusy = turns.isBusy();
  return wireThread({
    ...facts,
    id,
    name: readNames(agentHome).get(id) ?? null,
    path: findSessionPath(agentHome, id),
    ephemeral: options.ephemeral,
    status: isBusy ? view.status() : { type: "idle" },
    turns: shown === "without turns" ? [] : isBusy ? view.turns() : asResting(view.turns()),
  });
}

/** Ending the server does not wait long for hooks. */
const endSessionTimeoutMs = 3_000;

/** The thread's work is done: a failing hook is a warning only. */
async function endSession({ history: { state }, threadRun, reporter }: ThreadParts): Promise<void> {
  const { dependencies, openLog } = threadRun.now();
  if (!dependencies.hooks || !state.end) return;
  const log = openLog(state, reporter.recall);
  const signal = AbortSignal.timeout(endSessionTimeoutMs);
  const context = { ...dependencies, log, signal, reservations: new Map() };
  await dependencies.hooks.endSession(state.end, context).catch((error: Error) => reporter.log(error.message));
}
