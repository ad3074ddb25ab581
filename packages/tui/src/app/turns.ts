// Messages to the agent: they start a turn, steer the one in progress, or wait for its end. None is lost on the way.
import { randomUUID } from "node:crypto";
import type { UserInput } from "@agentcli/protocol/app-server";
import { ConnectionLost } from "../client/index.ts";
import { emptyBuffer, insert } from "../composer/index.ts";
import { warning } from "../transcript/index.ts";
import { type App, flash, type Outgoing } from "./state.ts";

export function submit(app: App, text: string, how: "send" | "queue"): void {
  const { state } = app;
  const images: UserInput[] = state.images.map((path) => ({ type: "localImage", path }));
  const input: UserInput[] = [...images, ...(text === "" ? [] : [{ type: "text" as const, text }])];
  const shown = [...state.images.map((path) => `[image ${path}]`), text].join(" ").trim();
  const isBusy = state.turnId !== null || state.outgoing.some((message) => message.how === "start");
  const message: Outgoing = {
    clientId: randomUUID(),
    input,
    text: shown,
    how: !isBusy ? "start" : how === "send" && state.turnId !== null ? "steer" : "queue",
  };
  state.images = [];
  state.outgoing.push(message);
  app.redraw();
  if (message.how !== "queue") void send(app, message);
}

async function send(app: App, message: Outgoing): Promise<void> {
  const { client, state } = app;
  const { threadId } = state;
  const { input, clientId: clientUserMessageId } = message;
  try {
    if (message.how === "steer" && state.turnId !== null) {
      await client.request("turn/steer", { threadId, input, expectedTurnId: state.turnId, clientUserMessageId });
      return;
    }
    message.how = "start";
    await client.request("turn/start", { ...state.change, threadId, input, clientUserMessageId });
    state.change = {};
    arrived(app, clientUserMessageId);
  } catch (error) {
    // It is sent again when the connection is back, unless the thread has it by then.
    if (error instanceof ConnectionLost) return;
    if (message.how === "steer") return startInstead(app, message);
    arrived(app, clientUserMessageId);
    state.transcript.print(warning((error as Error).message, "red"));
    app.redraw();
  }
}

/** The turn ended before it could be steered. */
function startInstead(app: App, message: Outgoing): void {
  message.how = app.state.turnId === null ? "start" : "queue";
  if (message.how === "start") void send(app, message);
}

/** The thread has the message. */
export function arrived({ state, redraw }: App, clientId: string): void {
  state.outgoing = state.outgoing.filter((message) => message.clientId !== clientId);
  redraw();
}

/** Sends what waited for the end of the turn, one message per turn. */
export function sendNext(app: App): void {
  const [next] = app.state.outgoing.filter(({ how }) => how !== "start");
  if (!next || app.state.turnId !== null) return;
  next.how = "start";
  void send(app, next);
}

/** After a lost connection: what the thread does not have is sent again. */
export function sendAgain(app: App, known: Set<string>): void {
  const { state } = app;
  state.outgoing = state.outgoing.filter(({ clientId }) => !known.has(clientId));
  const [lost] = state.outgoing.filter(({ how }) => how !== "queue");
  if (lost) void send(app, lost);
  else if (state.turnId === null) sendNext(app);
}

/** The last message that waits goes back to be edited. */
export function takeBack(app: App): boolean {
  const { state } = app;
  const last = state.outgoing.filter(({ how }) => how === "queue").at(-1);
  if (!last) return false;
  arrived(app, last.clientId);
  state.buffer = insert(emptyBuffer(textOf(last)), "");
  state.images = imagesOf(last);
  return true;
}

const textOf = ({ input }: Outgoing): string => input.map((part) => (part.type === "text" ? part.text : "")).join("");
const imagesOf = ({ input }: Outgoing): string[] =>
  input.flatMap((part) => (part.type === "localImage" ? [part.path] : []));

export async function interrupt(app: App): Promise<void> {
  const { state, client } = app;
  if (state.turnId === null) return;
  try {
    await client.request("turn/interrupt", { threadId: state.threadId, turnId: state.turnId });
    flash(app, "Interrupting…");
  } catch (error) {
    flash(app, (error as Error).message);
  }
}

/** Of an interrupted turn: what it did not read is put back to be edited. */
export function putBack(app: App): void {
  const { state } = app;
  const unread = state.outgoing.filter(({ how }) => how !== "start");
  if (unread.length === 0) return;
  state.outgoing = state.outgoing.filter(({ how }) => how === "start");
  const texts = [...unread.map(textOf), ...(state.buffer.text === "" ? [] : [state.buffer.text])];
  state.images = [...unread.flatMap(imagesOf), ...state.images];
  state.buffer = { ...state.buffer, ...emptyBuffer(texts.join("\n")), pastes: state.buffer.pastes };
}
