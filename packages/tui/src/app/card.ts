// A card: something to decide, with the keys that decide it. Several wait in line.
import { composerRows, edit, emptyBuffer, insert } from "../composer/index.ts";
import type { Input } from "../terminal/index.ts";
import { type Line, span, visible, wrapLine } from "../text/index.ts";
import { type App, close, type Overlay } from "./state.ts";

export interface Choice {
  /** The key that chooses it at once. */
  key: string;
  label: string;
  choose(): void;
}

export interface Card {
  title: string;
  /** Rows for a width. */
  body(columns: number): Line[];
  choices: Choice[];
  /** What Escape does. */
  dismiss(): void;
  /** Of the server; when that is over, so is the card. */
  question?: string | number;
  /** It follows another one that was just answered, in front of those that wait. */
  isNext?: boolean;
}

/** A card takes all keys until it is answered. */
export function openCard(app: App, card: Card): void {
  let selected = 0;
  const choose = (act: () => void) => {
    close(app, overlay);
    act();
  };
  const overlay: Overlay = {
    kind: "card",
    question: card.question,
    rows: (columns, maxRows) => cardRows(card, { selected, columns, maxRows, waiting: waitingAfter(app, overlay) }),
    input(input) {
      const found = chosenBy(card, input);
      if (found) choose(found.choose);
      else if (input.kind === "key" && input.name === "escape") choose(card.dismiss);
      else if (input.kind === "key" && input.name === "enter") choose(card.choices[selected]?.choose ?? card.dismiss);
      else if (input.kind === "key" && input.name === "up") selected = Math.max(0, selected - 1);
      else if (input.kind === "key" && input.name === "down")
        selected = Math.min(card.choices.length - 1, selected + 1);
      else return input.kind !== "key" || !input.ctrl;
      app.redraw();
      return true;
    },
  };
  const cards = app.state.overlays.filter(({ kind }) => kind === "card");
  app.state.overlays = card.isNext ? [overlay, ...cards] : [...cards, overlay];
  if (!card.isNext) app.notify("agentcli waits for your answer");
  app.redraw();
}

/** A key typed for the message must not answer a card that has just appeared: only single characters choose. */
const chosenBy = ({ choices }: Card, input: Input): Choice | undefined =>
  input.kind === "text" ? choices.find(({ key }) => key === input.text) : undefined;

const waitingAfter = ({ state }: App, overlay: Overlay): number =>
  state.overlays.filter(({ kind }) => kind === "card").length - 1 - state.overlays.indexOf(overlay);

const bar = span("┃ ", { color: "yellow", bold: true });

interface CardLook {
  selected: number;
  columns: number;
  maxRows: number;
  waiting: number;
}

function cardRows({ title, body, choices }: Card, { selected, columns, maxRows, waiting }: CardLook): Line[] {
  const more = waiting > 0 ? [span(`  ${waiting} more waiting`, { dim: true })] : [];
  const width = columns - 4;
  const options = choices.flatMap(({ key, label }, index) =>
    wrapLine([span(visible(label), index === selected ? { bold: true } : {})], {
      columns: width,
      first: [span(index === selected ? "❯ " : "  ", { color: "yellow", bold: true }), span(`${key} `, { bold: true })],
      rest: [span("    ")],
    }),
  );
  const rows = body(width);
  const room = Math.max(1, maxRows - options.length - 2);
  const shown =
    rows.length > room
      ? [...rows.slice(0, room - 1), [span(`… ${rows.length - room + 1} more lines`, { dim: true })]]
      : rows;
  return [[span(title, { bold: true }), ...more], ...shown, [], ...options].map((row) => [bar, ...row]);
}

export interface Writing {
  title: string;
  placeholder: string;
  /** Of a text that may be empty. */
  finish(text: string): void;
  question?: string | number;
}

/** A line to write in the place of the message; Escape finishes it empty. */
export function openWriting(app: App, { title, placeholder, finish, question }: Writing): void {
  let buffer = emptyBuffer();
  const done = (text: string) => {
    close(app, overlay);
    finish(text);
  };
  const overlay: Overlay = {
    kind: "card",
    question,
    rows(columns) {
      const mark = [span("❯ ", { color: "yellow", bold: true })];
      const { rows, cursor } = composerRows(buffer, { columns: columns - 2, maxRows: 5, placeholder, mark });
      overlay.cursor = { row: 1 + cursor.row, column: 2 + cursor.column };
      return [[span(title, { bold: true })], ...rows].map((row) => [bar, ...row]);
    },
    input(input) {
      if (input.kind !== "key") buffer = insert(buffer, input.text);
      else if (input.name === "escape") done("");
      else if (input.name === "enter" && !input.alt && !input.shift) done(buffer.text.trim());
      else buffer = edit(buffer, input) ?? buffer;
      app.redraw();
      return true;
    },
  };
  app.state.overlays = [overlay, ...app.state.overlays];
  app.redraw();
}
