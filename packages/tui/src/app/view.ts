// The live region: what is under way, what waits, the message being written, and the footer.
import { composerRows } from "../composer/index.ts";
import { cutLine, type Line, lineWidth, span, visible } from "../text/index.ts";
import { progressRow } from "../transcript/index.ts";
import { placeholder, promptMark, shortPath } from "./look.ts";
import type { AppState, Outgoing } from "./state.ts";

export interface LiveView {
  rows: Line[];
  cursor: { row: number; column: number };
}

interface Size {
  columns: number;
  rows: number;
}

export function liveView(state: AppState, { columns, rows }: Size, nowMs: number): LiveView {
  const width = Math.max(20, columns);
  const height = Math.max(4, rows - 1);
  const [overlay] = state.overlays;
  const card = overlay?.kind === "card" ? overlay.rows(width, Math.max(3, height - 3)) : null;
  const composer = card
    ? { rows: card, cursor: overlay?.cursor ?? selectedIn(card) }
    : composerOf(state, width, height);
  const list =
    overlay?.kind === "list" ? overlay.rows(width, Math.max(2, Math.min(8, height - composer.rows.length - 3))) : [];
  const below = [...list, ...footer(state, width)];
  const above = [
    ...statusRows(state, nowMs),
    ...waitingRows(state, width),
    ...(state.flash ? [[span(state.flash, { color: "yellow" as const })]] : []),
  ];
  const room = height - composer.rows.length - below.length - above.length - 1;
  const activity = room > 0 ? state.transcript.live(width).slice(-room) : [];
  const top = [...activity, [], ...above].slice(-Math.max(0, height - composer.rows.length - below.length));
  const all = [...top, ...composer.rows, ...below].map((row) => cutLine(row, width - 1));
  return {
    rows: all,
    cursor: { row: top.length + composer.cursor.row, column: Math.min(width - 1, composer.cursor.column) },
  };
}

/** Screen readers follow the cursor. */
function selectedIn(card: Line[]): LiveView["cursor"] {
  const row = card.findIndex((line) => line.some(({ text }) => text === "❯ "));
  const before = card[row]?.findIndex(({ text }) => text === "❯ ") ?? 0;
  return row < 0 ? { row: card.length - 1, column: 0 } : { row, column: lineWidth(card[row]?.slice(0, before) ?? []) };
}

function composerOf(state: AppState, columns: number, height: number) {
  const isIdle = state.turnId === null;
  const text = state.vim?.mode === "normal" ? "▪ " : promptMark.text;
  const mark = [span(text, isIdle ? promptMark.style : { color: "yellow", bold: true })];
  const view = composerRows(state.buffer, {
    columns,
    maxRows: Math.max(1, Math.min(10, Math.floor(height / 2))),
    placeholder: isIdle ? placeholder : "Enter steers, Tab queues, Esc interrupts",
    mark,
  });
  if (state.images.length === 0) return view;
  const images = state.images.map((path) => span(`[image ${visible(path)}] `, { color: "magenta" }));
  return { rows: [[span("  "), ...images], ...view.rows], cursor: { ...view.cursor, row: view.cursor.row + 1 } };
}

function statusRows({ turnId, turnStartedMs, transcript, lost, overlays }: AppState, nowMs: number): Line[] {
  if (lost !== null)
    return [
      [span("⚠ ", { color: "yellow", bold: true }), span(`Connecting again: ${visible(lost)}`, { color: "yellow" })],
    ];
  if (turnId === null) return [];
  const elapsedMs = nowMs - turnStartedMs;
  // Escape answers the card or closes the list then.
  if (overlays[0]?.question !== undefined) return [progressRow({ elapsedMs, doing: "waiting for your answer" })];
  const hint = overlays[0] === undefined ? { hint: "Esc interrupts" } : {};
  return [progressRow({ elapsedMs, doing: transcript.doing(), ...hint })];
}

const receipts: Record<Outgoing["how"], string> = {
  start: "sending",
  steer: "steers at the next step",
  queue: "queued, Alt-Up edits",
};

const waitingRows = ({ outgoing }: AppState, columns: number): Line[] =>
  outgoing.slice(-4).map(({ text, how }) => {
    const receipt = span(` (${receipts[how]})`, { dim: true });
    const words = cutLine([span(`↳ ${visible(text).replace(/\n+/g, " ")}`)], columns - 1 - lineWidth([receipt]));
    return [...words, receipt];
  });

const modes = {
  dangerFullAccess: "full access",
  readOnly: "read-only",
  externalSandbox: "external sandbox",
  workspaceWrite: "workspace-write",
};

/** Model, permissions and directory on the left, what was used on the right; on a narrow terminal fewer of them. */
function footer({ settings, usage, threadName }: AppState, columns: number): Line[] {
  const { model, effort, sandbox, approval, cwd } = settings;
  const asks = typeof approval === "string" ? approval : "granular";
  const facts = [
    `${model}${effort ? ` ${effort}` : ""}`,
    modes[sandbox.type],
    asks,
    shortPath(cwd),
    ...(threadName ? [threadName] : []),
  ];
  const meter = usageMeter(usage);
  const width = columns - 3;
  let shown = facts.length;
  const text = () => visible(facts.slice(0, shown).join(" · "));
  while (shown > 1 && text().length + lineWidth(meter) + 2 > width) shown--;
  const left = cutLine([span(`  ${text()}`, { dim: true })], columns - 1);
  const space = columns - 1 - lineWidth(left) - lineWidth(meter);
  return [space >= 2 ? [...left, span(" ".repeat(space)), ...meter] : left];
}

function usageMeter(usage: AppState["usage"]): Line {
  if (!usage) return [];
  const { total, last, modelContextWindow, budget } = usage;
  const tokens = total.inputTokens - total.cachedInputTokens + total.outputTokens;
  const used = modelContextWindow ? Math.min(100, Math.round((100 * last.totalTokens) / modelContextWindow)) : null;
  const context =
    used === null
      ? []
      : [span(`context ${used}%`, used >= 80 ? { color: "yellow" } : { dim: true }), span(" · ", { dim: true })];
  const spent = budget
    ? [
        span(`budget ${Math.round(100 * budget.used)}%`, budget.used >= 0.8 ? { color: "yellow" } : { dim: true }),
        span(" · ", { dim: true }),
      ]
    : [];
  return [...spent, ...context, span(`${shortNumber(tokens)} tokens`, { dim: true })];
}

export function shortNumber(value: number): string {
  if (value < 1000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}
