// A list to choose from; typing narrows it.

import type { Input } from "../terminal/index.ts";
import { cutLine, type Line, lineWidth, span, visible } from "../text/index.ts";
import { type App, close, type Overlay } from "./state.ts";

export interface Entry<Value> {
  label: string;
  /** Beside it, dim. */
  detail?: string;
  value: Value;
}

export interface Picker<Value> {
  title: string;
  entries: Entry<Value>[];
  choose(value: Value): void;
  dismiss(): void;
}

export interface PickerView {
  rows(columns: number, maxRows: number): Line[];
  /** Whether the list is done. */
  input(input: Input): boolean;
}

export function pickerView<Value>({ title, entries, choose, dismiss }: Picker<Value>): PickerView {
  let query = "";
  let selected = 0;
  const shown = () => entries.filter(({ label, detail = "" }) => fuzzy(query, `${label} ${detail}`));
  const pick = (entry: Entry<Value> | undefined) => (entry ? choose(entry.value) : dismiss());
  const done = (act: () => void): boolean => {
    act();
    return true;
  };
  return {
    rows(columns, maxRows) {
      const list = shown();
      const room = Math.max(1, maxRows - 1);
      const from = Math.max(0, Math.min(selected - Math.floor(room / 2), list.length - room));
      const head = [
        span(`${title} `, { bold: true }),
        span(
          query === "" ? "type to narrow, Enter chooses, Esc closes" : visible(query),
          query === "" ? { dim: true } : {},
        ),
      ];
      return [head, ...entryRows(list.slice(from, from + room), selected - from, columns)];
    },
    input(input) {
      const list = shown();
      if (input.kind === "text" || input.kind === "paste") [query, selected] = [query + input.text, 0];
      else if (input.name === "backspace") [query, selected] = [query.slice(0, -1), 0];
      else if (input.name === "up") selected = Math.max(0, selected - 1);
      else if (input.name === "down" || input.name === "tab") selected = Math.min(list.length - 1, selected + 1);
      else if (input.name === "escape") return done(dismiss);
      else if (input.name === "enter") return done(() => pick(list[selected]));
      return false;
    },
  };
}

/** Details are below each other, unless a label is longer than a third of the row. */
export function entryRows(entries: Entry<unknown>[], selected: number, columns: number): Line[] {
  if (entries.length === 0) return [[span("  nothing matches", { dim: true })]];
  const oneRow = (text: string) => visible(text).replace(/\n+/g, " ");
  const widest = Math.max(...entries.map(({ label }) => lineWidth([span(oneRow(label))])));
  const labelWidth = widest <= columns / 3 ? widest : 0;
  return entries.map(({ label, detail }, index) => {
    const name = span(oneRow(label), index === selected ? { bold: true } : {});
    const gap = " ".repeat(Math.max(0, labelWidth - lineWidth([name])));
    return cutLine(
      [
        span(index === selected ? "❯ " : "  ", { color: "cyan", bold: true }),
        name,
        span(detail ? `${gap}  ${oneRow(detail)}` : "", { dim: true }),
      ],
      columns - 1,
    );
  });
}

/** All characters of the query, in order. */
export function fuzzy(query: string, text: string): boolean {
  const lower = text.toLowerCase();
  let at = 0;
  for (const character of query.toLowerCase()) {
    at = lower.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** In the place of the message, until something is chosen. */
export function openPicker<Value>(app: App, picker: Picker<Value>): void {
  const view = pickerView(picker);
  const overlay: Overlay = {
    kind: "card",
    rows: (columns, maxRows) => view.rows(columns, Math.min(14, maxRows)),
    input(input) {
      if (view.input(input)) close(app, overlay);
      app.redraw();
      return true;
    },
  };
  app.state.overlays = [overlay, ...app.state.overlays];
  app.redraw();
}
