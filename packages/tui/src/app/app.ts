// The program: one thread of the app server on a terminal. Keys and notifications change the state; frames show it.
import type { Notice } from "@agentcli/surfaces/app-server";
import type { Client, ClientEvents } from "../client/index.ts";
import { type DraftFile, draftBuffer, emptyBuffer, openDraft, openHistory } from "../composer/index.ts";
import type { Display, Input } from "../terminal/index.ts";
import { colorDepth, openPainter } from "../text/index.ts";
import { openTranscript } from "../transcript/index.ts";
import { askUser } from "./approval.ts";
import { type AfterFrame, openFrames } from "./frames.ts";
import { openInput } from "./input.ts";
import { greeting } from "./look.ts";
import { clipboard, notification } from "./notification.ts";
import type { App, AppState, TuiOptions } from "./state.ts";
import { type OpenedThread, opened } from "./thread.ts";
import { arrived, putBack, sendAgain, sendNext } from "./turns.ts";
import { liveView } from "./view.ts";

export interface OpenedApp extends App {
  onInput(input: Input): void;
  /** Draws what is left. */
  end(): void;
}

interface AppParts {
  client: Client;
  display: Display;
  options: TuiOptions;
  thread: OpenedThread;
  quit(): void;
}

const afterFrame = ({ isAll }: { isAll: boolean }, { turnId }: AppState): AfterFrame => {
  if (!isAll) return "again";
  return turnId === null ? "still" : "tick";
};

/** A key is answered between two frames: more would keep it waiting, here or in the terminal. */
const maxOfFrame = { rows: 100, ms: 5 };

const nothing = { rows: 0, ms: 0 };

export function openApp({ client, display, options, thread, quit }: AppParts): OpenedApp {
  const { variables } = options;
  const draft = openDraft(options.agentHome, thread.settings.cwd);
  const state = firstState(thread, options);
  takeDraft(state, draft);
  const { screen, size, writer } = display;
  const links = !/^(?:screen|linux)/.test(variables.TERM ?? "") || variables.TMUX !== undefined;
  const frames = openFrames(writer, (extent) => {
    const { row } = openPainter({ depth: colorDepth(variables), theme: state.theme, links });
    const committed = state.transcript.take(size.columns, extent === "all" ? maxOfFrame : nothing);
    const { rows, cursor } = liveView(state, size, Date.now());
    screen.draw({ committed: committed.rows.map(row), live: rows.map(row), cursor });
    return afterFrame(committed, state);
  });
  const app: OpenedApp = {
    options,
    state,
    client,
    history: openHistory(options.agentHome),
    redraw: frames.soon,
    quit,
    lend(use) {
      try {
        return display.lend(use);
      } finally {
        frames.now();
      }
    },
    notify: (text) => writer.write(notification(text, variables)),
    copy(text) {
      const sequence = clipboard(text, variables);
      if (sequence !== null) writer.write(sequence);
      return sequence !== null;
    },
    onInput(input) {
      take(input);
      frames.key();
      draft.write({ text: state.buffer.text, images: state.images, pastes: state.buffer.pastes });
    },
    end: frames.close,
  };
  const take = openInput(app);
  display.use({ onInput: app.onInput, onResize: frames.now });
  return app;
}

/** What was written when the program ended last, in this directory. */
function takeDraft(state: AppState, draft: DraftFile): void {
  const kept = draft.read();
  if (!kept) return;
  state.buffer = draftBuffer(kept);
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

export function greet({ state, options, redraw }: App, { settings }: OpenedThread): void {
  state.transcript.print((columns) => greeting(options.version, settings.cwd, columns));
  redraw();
}

export function listeners(app: App): ClientEvents {
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
