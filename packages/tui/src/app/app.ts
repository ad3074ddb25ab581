// The program: one thread of the app server on a terminal. Keys and notifications change the state; frames show it.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Notice } from "@agentcli/surfaces/app-server";
import { type Client, type ClientEvents, openClient, type Question } from "../client/index.ts";
import { type DraftFile, emptyBuffer, openDraft, openHistory } from "../composer/index.ts";
import { hasKeyProtocol, openScreen, openTerminal, outputOf, type Terminal } from "../terminal/index.ts";
import { colorDepth, openPainter, span } from "../text/index.ts";
import { openTranscript } from "../transcript/index.ts";
import { askUser } from "./approval.ts";
import { type AfterFrame, openFrames } from "./frames.ts";
import { openInput } from "./input.ts";
import { clipboard, notification } from "./notification.ts";
import type { App, AppState, TuiOptions } from "./state.ts";
import { type OpenedThread, opened, openThread } from "./thread.ts";
import { arrived, putBack, sendAgain, sendNext, submit } from "./turns.ts";
import { liveView, shortPath } from "./view.ts";

export async function runTui(options: TuiOptions): Promise<number> {
  const early: (Notice | Question)[] = [];
  const handlers: ClientEvents = {
    notice: (notice) => void early.push(notice),
    asked: (question) => void early.push(question),
    reopened: () => {},
    lost: () => {},
  };
  const events: ClientEvents = {
    notice: (notice) => handlers.notice(notice),
    asked: (question) => handlers.asked(question),
    reopened: () => handlers.reopened(),
    lost: (reason) => handlers.lost(reason),
  };
  const { connect, version, signal } = options;
  const client = await openClient({ connect, clientName: "agentcli-tui", version, events, signal });
  try {
    const thread = await openThread(client, options);
    if (thread) await runThread({ client, options, thread, handlers, early });
  } finally {
    client.close();
  }
  return exitCodes.completed.code;
}

interface Session {
  client: Client;
  options: TuiOptions;
  thread: OpenedThread;
  handlers: ClientEvents;
  /** What arrived before the program listened. */
  early: (Notice | Question)[];
}

/** Settles when the user quits. */
async function runThread({ client, options, thread, handlers, early }: Session): Promise<void> {
  const { streams, signal } = options;
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const app = openApp({ client, options, thread, quit: () => finish() });
  Object.assign(handlers, listeners(app));
  for (const each of early) "answer" in each ? handlers.asked(each) : handlers.notice(each);
  signal.addEventListener("abort", () => finish(), { once: true });
  if (signal.aborted) finish();
  const suspended = () => app.lend(() => process.kill(process.pid, "SIGSTOP"));
  process.on("SIGTSTP", suspended);
  try {
    greet(app, thread);
    if (options.prompt !== null || options.images.length > 0) submit(app, options.prompt ?? "", "send");
    await done;
  } finally {
    process.off("SIGTSTP", suspended);
    app.end();
    streams.output.write(goodbye(app));
  }
}

interface OpenedApp extends App {
  end(): void;
}

interface AppParts extends Pick<Session, "client" | "options" | "thread"> {
  quit(): void;
}

const afterFrame = ({ isAll }: { isAll: boolean }, { turnId }: AppState): AfterFrame => {
  if (!isAll) return "again";
  return turnId === null ? "still" : "tick";
};

/** A key is answered between two frames: more rows would keep it waiting. */
const maxRowsOfFrame = 250;

function openApp({ client, options, thread, quit }: AppParts): OpenedApp {
  const { streams, variables } = options;
  const { output } = streams;
  const draft = openDraft(options.agentHome, thread.settings.cwd);
  const state = firstState(thread, options);
  takeDraft(state, draft);
  const size = outputOf(output);
  const screen = openScreen(size);
  const links = !/^(?:screen|linux)/.test(variables.TERM ?? "") || variables.TMUX !== undefined;
  const frames = openFrames(output, () => {
    const { row } = openPainter({ depth: colorDepth(variables), theme: state.theme, links });
    const committed = state.transcript.take(size.columns, maxRowsOfFrame);
    const { rows, cursor } = liveView(state, size, Date.now());
    screen.draw({ committed: committed.rows.map(row), live: rows.map(row), cursor });
    return afterFrame(committed, state);
  });
  let terminal: Terminal | null = null;
  const app: OpenedApp = {
    options,
    state,
    client,
    history: openHistory(options.agentHome),
    redraw: frames.soon,
    quit,
    lend(use) {
      screen.end("erase");
      terminal?.suspend();
      try {
        return use();
      } finally {
        terminal?.resume();
        screen.forget();
        frames.now();
      }
    },
    notify: (text) => void output.write(notification(text, variables)),
    copy(text) {
      const sequence = clipboard(text, variables);
      if (sequence !== null) output.write(sequence);
      return sequence !== null;
    },
    end() {
      frames.close();
      screen.end("erase");
      terminal?.close();
    },
  };
  const onInput = openInput(app);
  terminal = openTerminal({
    ...streams,
    hasKeyProtocol: hasKeyProtocol(variables),
    onInput(input) {
      onInput(input);
      frames.now();
      draft.write({ text: state.buffer.text, images: state.images, pastes: state.buffer.pastes });
    },
    onResize: frames.now,
  });
  return app;
}

/** What was written when the program ended last, in this directory. */
function takeDraft(state: AppState, draft: DraftFile): void {
  const kept = draft.read();
  if (!kept) return;
  state.buffer = { ...emptyBuffer(kept.text), pastes: kept.pastes };
  state.images = [...state.images, ...kept.images];
}

const firstState = ({ threadId, name, settings, turns }: OpenedThread, { images }: TuiOptions): AppState => {
  const transcript = openTranscript(threadId);
  transcript.recall(turns);
  const active = turns.find(({ status }) => status === "inProgress");
  return {
    threadId,
    threadName: name,
    settings,
    transcript,
    turnId: active?.id ?? null,
    turnStartedMs: (active?.startedAt ?? 0) * 1000 || Date.now(),
    usage: null,
    buffer: emptyBuffer(),
    images,
    outgoing: [],
    overlays: [],
    flash: "",
    lost: null,
    theme: "terminal",
    vim: null,
    change: {},
  };
};

function greet({ state, options, redraw }: App, { settings }: OpenedThread): void {
  state.transcript.print(() => [
    [
      span("agentcli", { bold: true }),
      span(` ${options.version}`, { dim: true }),
      span(`  ${shortPath(settings.cwd)}`),
    ],
    [span("Enter sends, Ctrl-J begins a new line, / lists commands, Ctrl-C twice quits.", { dim: true })],
  ]);
  redraw();
}

/** How to go on, as the last line on the terminal. */
const goodbye = ({ state }: App): string => `To continue: agentcli resume ${state.threadId}\n`;

function listeners(app: App): ClientEvents {
  return {
    notice(notice) {
      follow(app, notice);
      app.state.transcript.notice(notice);
      app.redraw();
    },
    asked: (question) => askUser(app, question),
    lost(reason) {
      app.state.lost = reason;
      app.state.overlays = [];
      app.redraw();
    },
    reopened: () => void rejoin(app),
  };
}

/** The parts of a notification that concern more than the transcript. */
function follow(app: App, notice: Notice) {
  const { state } = app;
  // Also of a sub-agent, whose questions are asked here.
  if (notice.method === "serverRequest/resolved")
    state.overlays = state.overlays.filter(({ question }) => question !== notice.params.requestId);
  if ("threadId" in notice.params && notice.params.threadId !== state.threadId) return;
  switch (notice.method) {
    case "turn/started":
      Object.assign(state, { turnId: notice.params.turn.id, turnStartedMs: Date.now() });
      return;
    case "turn/completed":
      return turnOver(app, notice.params.turn.status);
    case "item/completed":
      if (notice.params.item.type === "userMessage" && notice.params.item.clientId)
        arrived(app, notice.params.item.clientId);
      return;
    case "thread/tokenUsage/updated":
      state.usage = notice.params.tokenUsage;
      return;
    case "thread/name/updated":
      state.threadName = notice.params.threadName ?? null;
      return;
    default:
      return;
  }
}

const longTurnMs = 10_000;

function turnOver(app: App, status: string): void {
  const { state } = app;
  state.turnId = null;
  if (Date.now() - state.turnStartedMs >= longTurnMs) app.notify("agentcli has finished");
  if (status === "interrupted") putBack(app);
  else sendNext(app);
}

/** What happened meanwhile is in the answer; nothing is shown twice. */
async function rejoin(app: App): Promise<void> {
  const { state, client } = app;
  try {
    const { settings, turns } = opened(await client.request("thread/resume", { threadId: state.threadId }));
    const active = turns.find(({ status }) => status === "inProgress");
    Object.assign(state, { settings, lost: null, turnId: active?.id ?? null });
    state.transcript.recall(turns);
    sendAgain(app, clientIds(turns));
  } catch (error) {
    state.lost = (error as Error).message;
  }
  app.redraw();
}

const clientIds = (turns: OpenedThread["turns"]): Set<string> =>
  new Set(
    turns.flatMap(({ items }) =>
      items.flatMap((item) => (item.type === "userMessage" && item.clientId ? [item.clientId] : [])),
    ),
  );
