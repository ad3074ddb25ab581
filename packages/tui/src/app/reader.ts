// Whole texts, on a screen of their own that leaves the scrollback alone.
import { spawnSync } from "node:child_process";
import { visible } from "../text/index.ts";
import { openPicker } from "./picker.ts";
import { type App, flash, programDirectory, programVariables } from "./state.ts";

/** The newest first; one alone is opened at once. */
export function openReader(app: App) {
  const items = app.state.transcript.readable();
  if (items.length === 0) return flash(app, "There is nothing to read yet.");
  openPicker(app, {
    title: "Read all of",
    entries: items
      .map((item) => ({ label: item.title, detail: `${item.text.split("\n").length} lines`, value: item }))
      .reverse(),
    choose: ({ text }) => readText(app, text),
    dismiss: () => {},
  });
}

/** In the pager of the user; nothing in the text is obeyed. */
export function readText(app: App, text: string): void {
  const variables = programVariables(app);
  const pager = variables.PAGER || "less";
  const env = { LESS: "-+F", LESSSECURE: "1", ...variables };
  const { error } = app.lend(() =>
    spawnSync("/bin/sh", ["-c", pager], {
      cwd: programDirectory,
      input: visible(text),
      stdio: ["pipe", "inherit", "inherit"],
      env,
    }),
  );
  if (error) flash(app, `The pager could not be started: ${error.message}. PAGER names another one.`);
}
