// One thread from its server to the terminal: connects, opens the thread, shows it until the user quits.
import type { Notice } from "@agentcli/surfaces/app-server";
import { type Client, type ClientEvents, openClient, type Question } from "../client/index.ts";
import type { Display } from "../terminal/index.ts";
import { greet, listeners, openApp } from "./app.ts";
import { openChooser } from "./pick.ts";
import type { Start } from "./start.ts";
import type { App, TuiOptions } from "./state.ts";
import { type OpenedThread, openThread } from "./thread.ts";
import { submit } from "./turns.ts";

export interface Session {
  display: Display;
  options: TuiOptions;
  start: Start;
}

export async function runSession(session: Session): Promise<void> {
  const { display, options, start } = session;
  const { connect, version, signal } = options;
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
  let client: Client | undefined;
  const open = async () => {
    client = await openClient({ connect, clientName: "agentcli-tui", version, events, signal });
    const choose = openChooser(display, options);
    const thread = await openThread(client, options, async (choice) => {
      const chosen = await choose(choice);
      start.show();
      return chosen;
    });
    return thread && { client, thread };
  };
  try {
    const opened = await Promise.race([open(), start.quit.then(() => null), ended(signal)]);
    if (opened) await runThread({ ...session, ...opened, handlers, early });
  } finally {
    client?.close();
  }
}

const ended = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });

interface ThreadSession extends Session {
  client: Client;
  thread: OpenedThread;
  handlers: ClientEvents;
  /** What arrived before the program listened. */
  early: (Notice | Question)[];
}

/** Settles when the user quits. */
async function runThread({ client, display, options, start, thread, handlers, early }: ThreadSession): Promise<void> {
  const { streams, signal } = options;
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const app = openApp({ client, display, options, thread, quit: () => finish() });
  Object.assign(handlers, listeners(app));
  for (const each of early) if (!("answer" in each)) handlers.notice(each);
  signal.addEventListener("abort", () => finish(), { once: true });
  if (signal.aborted) finish();
  const suspended = () => app.lend(() => process.kill(process.pid, "SIGSTOP"));
  process.on("SIGTSTP", suspended);
  try {
    greet(app, thread);
    if (options.prompt !== null || options.images.length > 0) submit(app, options.prompt ?? "", "send");
    for (const input of start.typed) app.onInput(input);
    // After the keys, which were not typed to answer them.
    for (const each of early) if ("answer" in each) handlers.asked(each);
    await done;
  } finally {
    process.off("SIGTSTP", suspended);
    app.end();
    display.close();
    streams.output.write(goodbye(app));
  }
}

/** How to go on, as the last line on the terminal. */
const goodbye = ({ state }: App): string => `To continue: agentcli resume ${state.threadId}\n`;
