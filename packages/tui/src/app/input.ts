// Keys: the overlay on top has them first, then the message, then the program.
import { edit, emptyBuffer, insert, insertPaste, isEmpty, wholeText } from "../composer/index.ts";
import type { Input, Key } from "../terminal/index.ts";
import { type App, flash } from "./state.ts";
import { interrupt, submit, takeBack } from "./turns.ts";

/** When the last key of a pair was pressed: Ctrl-C twice, Escape twice. */
export interface Pairs {
  quit: boolean;
}

export function openInput(app: App): (input: Input) => void {
  const pairs: Pairs = { quit: false };
  return (input) => {
    const { state } = app;
    const isQuit = input.kind === "key" && input.ctrl && input.name === "c";
    if (!isQuit) pairs.quit = false;
    state.flash = "";
    if (isQuit) pressedQuit(app, pairs);
    else if (!state.overlays[0]?.input(input)) take(app, input);
    app.redraw();
  };
}

function take(app: App, input: Input) {
  const { state } = app;
  if (input.kind === "text") state.buffer = insert(state.buffer, input.text);
  else if (input.kind === "paste") state.buffer = insertPaste(state.buffer, input.text);
  else pressed(app, input);
}

function pressed(app: App, key: Key) {
  const { state } = app;
  if (key.name === "enter" && !key.alt && !key.shift && !key.ctrl) return send(app, "send");
  if (key.name === "tab" && !key.shift && state.turnId !== null) return send(app, "queue");
  if (key.name === "escape") return void interrupt(app);
  if (key.name === "up" && key.alt) return void takeBack(app);
  if (key.ctrl && key.name === "d" && isEmpty(state.buffer)) return app.quit();
  state.buffer = edit(state.buffer, key) ?? state.buffer;
}

/** The first press clears the message, or interrupts; the second quits. */
function pressedQuit(app: App, pairs: Pairs) {
  const { state } = app;
  if (pairs.quit) return app.quit();
  pairs.quit = true;
  if (state.turnId !== null) void interrupt(app);
  flash(app, "Press Ctrl-C again to quit.");
}

function send(app: App, how: "send" | "queue"): void {
  const { state } = app;
  if (state.buffer.text.endsWith("\\") && state.buffer.cursor === state.buffer.text.length) {
    state.buffer = insert({ ...emptyBuffer(state.buffer.text.slice(0, -1)), pastes: state.buffer.pastes }, "\n");
    return;
  }
  const text = wholeText(state.buffer).trim();
  if (text === "" && state.images.length === 0) return;
  state.buffer = emptyBuffer();
  submit(app, text, how);
}
