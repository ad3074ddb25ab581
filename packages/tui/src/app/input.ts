// Keys: the overlay on top has them first, then the message, then the program.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { edit, emptyBuffer, insert, insertPaste, isEmpty, leaveInsert, vimKey, wholeText } from "../composer/index.ts";
import type { Input, Key } from "../terminal/index.ts";
import { pasteImage } from "./clipboard-image.ts";
import { runSlash } from "./commands.ts";
import { openCompletion } from "./completion.ts";
import { openPicker } from "./picker.ts";
import { openReader } from "./reader.ts";
import { type App, flash, programDirectory, programVariables } from "./state.ts";
import { editEarlier } from "./switch.ts";
import { interrupt, submit, takeBack } from "./turns.ts";

/** What the keys before this one have begun. */
interface Pressed {
  /** Ctrl-C, or Escape without a turn: the same again does more. */
  last: "quit" | "escape" | null;
  /** Position in the history; null while an own message is written. */
  recalled: number | null;
}

export function openInput(app: App): (input: Input) => void {
  const pressed: Pressed = { last: null, recalled: null };
  const complete = openCompletion(app);
  return (input) => {
    const { state } = app;
    const { last } = pressed;
    pressed.last = null;
    state.flash = "";
    if (input.kind === "key" && input.ctrl && input.name === "c") pressedQuit(app, pressed, last);
    else if (!state.overlays[0]?.input(input)) take(app, input, { pressed, last });
    complete();
    app.redraw();
  };
}

interface Before {
  pressed: Pressed;
  last: Pressed["last"];
}

function take(app: App, input: Input, before: Before): void {
  const { state } = app;
  if (input.kind === "text" && state.vim?.mode === "normal") command(app, input.text);
  else if (input.kind === "text") state.buffer = insert(state.buffer, input.text);
  else if (input.kind === "paste") paste(app, input.text);
  else if (!recall(app, input, before.pressed)) press(app, input, before);
}

function command({ state }: App, characters: string): void {
  for (const character of characters)
    if (state.vim?.mode === "normal") Object.assign(state, vimKey(state.buffer, state.vim, character));
    else state.buffer = insert(state.buffer, character);
}

/** The path of an image, as terminals paste a dropped file, attaches it. */
function paste({ state }: App, text: string): void {
  const path = text
    .trim()
    .replace(/^'(.*)'$|^"(.*)"$/, "$1$2")
    .replace(/\\ /g, " ");
  if (/^\/[^\n]+\.(?:png|jpe?g|gif|webp)$/i.test(path)) state.images.push(path);
  else state.buffer = insertPaste(state.buffer, text);
}

function press(app: App, key: Key, { pressed, last }: Before) {
  const { state } = app;
  pressed.recalled = null;
  if (key.name === "enter" && !key.alt && !key.shift && !key.ctrl) return send(app, "send");
  if (key.name === "tab" && !key.shift && state.turnId !== null) return send(app, "queue");
  if (key.name === "escape") return pressedEscape(app, pressed, last);
  if (key.name === "up" && key.alt) return void takeBack(app);
  if (key.ctrl && key.name === "d" && isEmpty(state.buffer)) return app.quit();
  if (key.ctrl && key.name === "o") return openReader(app);
  if (key.ctrl && key.name === "g") return writeInEditor(app);
  if (key.ctrl && key.name === "r") return searchHistory(app);
  if (key.ctrl && key.name === "v") return pasteImage(app);
  if (key.ctrl && key.name === "z") return app.lend(() => process.kill(process.pid, "SIGSTOP"));
  if (key.name === "backspace" && state.buffer.text === "") state.images.pop();
  state.buffer = edit(state.buffer, key) ?? state.buffer;
}

/** Up at the first line and Down at the last go through earlier messages. */
function recall({ state, history }: App, key: Key, pressed: Pressed): boolean {
  const isUp = key.name === "up";
  if ((!isUp && key.name !== "down") || key.alt || key.ctrl || edit(state.buffer, key)) return false;
  const all = history.all();
  const at = (pressed.recalled ?? all.length) + (isUp ? -1 : 1);
  if (!isEmpty(state.buffer) && pressed.recalled === null) return false;
  if (at < 0 || at > all.length || all.length === 0) return true;
  pressed.recalled = at === all.length ? null : at;
  state.buffer = emptyBuffer(all[at] ?? "");
  return true;
}

function searchHistory(app: App): void {
  const texts = [...new Set(app.history.all().toReversed())];
  openPicker(app, {
    title: "Earlier messages",
    entries: texts.map((text) => ({ label: text, value: text })),
    choose(text) {
      app.state.buffer = emptyBuffer(text);
    },
    dismiss: () => {},
  });
}

/** Interrupts; without a turn, twice edits an earlier message. */
function pressedEscape(app: App, pressed: Pressed, last: Pressed["last"]): void {
  if (app.state.vim?.mode === "insert") {
    Object.assign(app.state, leaveInsert(app.state.buffer));
    return;
  }
  if (app.state.turnId !== null) return void interrupt(app);
  if (last === "escape") return void editEarlier(app);
  pressed.last = "escape";
  flash(app, "Press Escape again to edit an earlier message.");
}

/** The first press interrupts, the second quits. The message stays, also for the next start. */
function pressedQuit(app: App, pressed: Pressed, last: Pressed["last"]) {
  if (last === "quit") return app.quit();
  pressed.last = "quit";
  if (app.state.turnId !== null) void interrupt(app);
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
  const shown = state.buffer.text.trim();
  state.buffer = emptyBuffer();
  if (state.vim) state.vim = { mode: "insert", pending: "" };
  if (runSlash(app, text)) return;
  app.history.add(shown === text ? text : text.slice(0, 4000));
  submit(app, text, how);
}

function writeInEditor(app: App) {
  const variables = programVariables(app);
  const editor = variables.VISUAL || variables.EDITOR || "vi";
  const directory = mkdtempSync(join(tmpdir(), "agentcli-message-"));
  const path = join(directory, "message.md");
  try {
    writeFileSync(path, wholeText(app.state.buffer), { mode: 0o600 });
    const { status } = app.lend(() =>
      spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], {
        cwd: programDirectory,
        stdio: "inherit",
        env: variables,
      }),
    );
    if (status !== 0) return flash(app, `${editor} failed; the message is as it was. EDITOR names another one.`);
    app.state.buffer = emptyBuffer(readFileSync(path, "utf8").replace(/\n$/, ""));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
