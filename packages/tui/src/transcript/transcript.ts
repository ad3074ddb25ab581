// What the agent does: a fold over the notifications of one thread, as rows that stay and rows that still change. What has been
// shown is never shown again: items have ids that survive a lost connection and a restarted server.
import type { FileUpdateChange, ThreadItem, ThreadItemOf, Turn } from "@agentcli/protocol/app-server";
import type { Notice } from "@agentcli/surfaces/app-server";
import { duration } from "@agentcli/surfaces/duration";
import { type Line, span, visible } from "../text/index.ts";
import { type Agents, openAgents } from "./agents.ts";
import { openArchive, type ReadableItem } from "./archive.ts";
import { type BlockStream, blockRows, openBlocks } from "./blocks.ts";
import {
  type Cell,
  changeRows,
  commandRows,
  commandText,
  type Hunk,
  hunksOf,
  indented,
  itemCell,
  note,
  reasoningText,
  warning,
} from "./cells.ts";
import { type OutputTail, openTail } from "./output.ts";
import { type PlanStep, planRows } from "./plan.ts";
import { tailRows } from "./progress.ts";

/** Its methods are those of one fold: what goes in, and the views of it. */
export interface Transcript {
  notice(notice: Notice): void;
  /** Turns as the server has them: what was not shown yet is shown. */
  recall(turns: Turn[]): void;
  /** A text of the program itself. */
  print(cell: Cell): void;
  /** Rows that stay, once each: about as many as asked for, in about that time. What is left comes with the next call. */
  take(columns: number, max?: { rows: number; ms: number }): { rows: Line[]; isAll: boolean };
  /** Rows that still change. */
  live(columns: number): Line[];
  /** What was shown in part, whole; the newest last. */
  readable(): ReadableItem[];
  /** A phrase for the status line. */
  doing(): string;
  /** Changes of an item that waits for approval. */
  proposed(itemId: string, columns: number): Line[];
  /** The newest last. */
  commands(): string[];
  /** Of the same edits, to be decided one by one. */
  hunks(itemId: string): Hunk[];
}

interface Message {
  blocks: BlockStream;
  /** Characters of the message that are in the blocks. */
  length: number;
  hasBegun: boolean;
}

interface State {
  threadId: string;
  cells: Cell[];
  /** Items that are complete and shown, and turns whose end is. */
  shown: Set<string>;
  messages: Map<string, Message>;
  running: Map<string, { item: ThreadItem; output: OutputTail }>;
  plan: PlanStep[];
  doing: string;
  agents: Agents;
  archive: ReturnType<typeof openArchive>;
  /** The last ones that ran. */
  commands: string[];
}

export function openTranscript(threadId: string): Transcript {
  const state: State = {
    threadId,
    cells: [],
    shown: new Set(),
    messages: new Map(),
    running: new Map(),
    plan: [],
    doing: "thinking",
    agents: openAgents(),
    archive: openArchive(),
    commands: [],
  };
  return {
    notice: (notice) => applyNotice(state, notice),
    recall: (turns) => recallTurns(state, turns),
    print: (cell) => void push(state, cell),
    take: (columns, max = { rows: Infinity, ms: Infinity }) => takeRows(state, columns, max),
    live: (columns) => liveRows(state, columns),
    readable: () => state.archive.items(),
    doing: () => state.doing,
    proposed: (itemId, columns) =>
      changesOf(state, itemId).flatMap((change) => changeRows(change, "inProgress", columns)),
    commands: () => state.commands,
    hunks: (itemId) => changesOf(state, itemId).flatMap(hunksOf),
  };
}

function takeRows(
  { cells }: State,
  columns: number,
  max: { rows: number; ms: number },
): { rows: Line[]; isAll: boolean } {
  const rows: Line[] = [];
  const endMs = performance.now() + max.ms;
  let used = 0;
  for (; used < cells.length && rows.length < max.rows && performance.now() < endMs; used += 1)
    for (const row of cells[used]?.(columns) ?? []) rows.push(row);
  cells.splice(0, used);
  return { rows, isAll: cells.length === 0 };
}

function changesOf({ running }: State, itemId: string): FileUpdateChange[] {
  const item = running.get(itemId)?.item;
  return item?.type === "fileChange" ? item.changes : [];
}

/** A blank row in front of each. */
function push(state: State, cell: Cell) {
  state.cells.push((columns) => {
    const rows = cell(columns);
    return rows.length === 0 ? [] : [[], ...rows];
  });
}

function applyNotice(state: State, notice: Notice) {
  if (belongsToAgent(state, notice)) {
    state.agents.notice(notice);
    return;
  }
  switch (notice.method) {
    case "item/started":
      return startItem(state, notice.params.item);
    case "item/completed":
      return completeItem(state, notice.params.item);
    case "item/agentMessage/delta":
      return addText(state, notice.params.itemId, notice.params.delta);
    case "item/reasoning/summaryTextDelta":
    case "item/reasoning/textDelta":
      state.doing = "thinking";
      return;
    case "item/commandExecution/outputDelta":
      return state.running.get(notice.params.itemId)?.output.add(notice.params.delta);
    case "turn/plan/updated":
      state.plan = notice.params.plan;
      return;
    case "turn/started":
      Object.assign(state, { plan: [], doing: "thinking" });
      return;
    case "turn/completed":
      return endTurn(state, notice.params.turn);
    case "hook/started":
    case "hook/completed":
      return applyHook(state, notice.params.run);
    case "warning":
      return push(state, warning(notice.params.message));
    case "configWarning":
    case "deprecationNotice":
      return push(state, warning([notice.params.summary, notice.params.details ?? ""].join("\n").trim()));
    case "error":
      if (notice.params.willRetry) state.doing = `waiting to try again: ${visible(notice.params.error.message)}`;
      return;
    case "mcpServer/startupStatus/updated":
      if (notice.params.status === "failed")
        push(state, warning(`MCP server ${notice.params.name}: ${notice.params.error ?? "did not start"}`));
      return;
    default:
      return;
  }
}

function belongsToAgent({ threadId }: State, { params }: Notice): boolean {
  const { thread, threadId: other = thread?.id } = params as { threadId?: string | null; thread?: { id: string } };
  return typeof other === "string" && other !== threadId;
}

function startItem(state: State, item: ThreadItem): void {
  if (state.shown.has(item.id)) return;
  if (item.type === "agentMessage") {
    // The reply is sent again after a failed attempt: what has been shown of it stays, the rest follows.
    const again = state.messages.get(item.id)?.hasBegun ?? false;
    if (again) push(state, note("…", "The reply starts again."));
    // Its text comes again as deltas.
    state.messages.set(item.id, { blocks: openBlocks(), length: 0, hasBegun: false });
    state.doing = "answering";
    return;
  }
  if (item.type === "userMessage" || item.type === "reasoning") return;
  const output = openTail();
  if (item.type === "commandExecution" && item.aggregatedOutput) output.add(item.aggregatedOutput);
  state.running.set(item.id, { item, output });
  state.doing = doingOf(item);
}

function doingOf(item: ThreadItem): string {
  if (item.type === "commandExecution") return `running ${visible(commandText(item)).split("\n")[0]}`;
  if (item.type === "mcpToolCall") return `calling ${visible(`${item.server}/${item.tool}`)}`;
  if (item.type === "fileChange") return "editing";
  return item.type === "collabAgentToolCall" ? "working with agents" : "working";
}

function addText(state: State, id: string, text: string): void {
  const message = state.messages.get(id) ?? { blocks: openBlocks(), length: 0, hasBegun: false };
  state.messages.set(id, message);
  message.length += text.length;
  message.blocks.add(visible(text));
  releaseBlocks(state, message);
}

/** Rows of a message have a mark on the first, and blank rows only between others. */
function releaseBlocks(state: State, message: Message): void {
  for (const block of message.blocks.take()) {
    if (!message.hasBegun && block.kind === "markdown" && block.text.trim() === "") continue;
    const isFirst = !message.hasBegun;
    message.hasBegun = true;
    state.cells.push((columns) => messageRows(blockRows(block, columns - 3), isFirst));
  }
}

function messageRows(rows: Line[], isFirst: boolean): Line[] {
  const shown = indented(rows);
  if (!isFirst) return shown;
  const [first = [], ...rest] = shown;
  return [[], [span("• ", { color: "magenta", bold: true }), ...first.slice(1)], ...rest];
}

const maxCommands = 500;

function completeItem(state: State, item: ThreadItem) {
  const isNew = !state.shown.has(item.id);
  state.running.delete(item.id);
  if (!isNew) return;
  state.shown.add(item.id);
  state.doing = "thinking";
  if (item.type === "agentMessage") return completeMessage(state, item);
  const cell = itemCell(item);
  if (cell) push(state, cell);
  if (item.type === "commandExecution") state.commands = [...state.commands.slice(1 - maxCommands), commandText(item)];
  if (item.type === "collabAgentToolCall" && item.tool === "spawnAgent")
    for (const id of item.receiverThreadIds) state.agents.assign(id, item.prompt ?? "");
  if (item.type === "reasoning") state.archive.add("Reasoning", reasoningText(item));
  else state.archive.addItem(item);
}

function completeMessage(state: State, { id, text }: ThreadItemOf<"agentMessage">): void {
  const shown = state.messages.get(id)?.length ?? 0;
  if (text.length > shown) addText(state, id, text.slice(shown));
  const message = state.messages.get(id);
  if (!message) return;
  message.blocks.finish();
  releaseBlocks(state, message);
  state.messages.delete(id);
  state.archive.add("Message", text);
}

function endTurn(state: State, { id: turnId, status, error, durationMs }: Turn): void {
  if (state.shown.has(turnId)) return;
  state.shown.add(turnId);
  for (const [id, message] of state.messages) {
    message.blocks.finish();
    releaseBlocks(state, message);
    state.messages.delete(id);
  }
  state.running.clear();
  state.agents.clear();
  const { plan } = state;
  state.plan = [];
  if (plan.length > 0) push(state, (columns) => planRows(plan, columns));
  if (status === "failed") push(state, warning(error?.message ?? "The turn failed.", "red"));
  if (status === "interrupted") push(state, note("■", "Interrupted."));
  if (status === "completed" && durationMs && durationMs >= 1000)
    push(state, note("─", `worked for ${duration(durationMs)}`));
}

type HookRun = Extract<Notice, { method: "hook/completed" }>["params"]["run"];

function applyHook(state: State, { status, eventName, entries, statusMessage }: HookRun): void {
  if (status === "running") state.doing = visible(statusMessage ?? `hook ${eventName}`);
  if (status !== "failed" && status !== "blocked" && status !== "stopped") return;
  const reasons = entries.map(({ text }) => text).join("\n");
  push(state, warning(`Hook ${eventName} ${status}${reasons ? `: ${reasons}` : ""}`));
}

function recallTurns(state: State, turns: Turn[]): void {
  for (const turn of turns) {
    const isOver = turn.status !== "inProgress";
    for (const item of turn.items) {
      if (isOver || isComplete(item)) completeItem(state, item);
      else if (item.type === "agentMessage")
        addText(state, item.id, item.text.slice(state.messages.get(item.id)?.length ?? 0));
      else startItem(state, item);
    }
    if (isOver) endTurn(state, { ...turn, durationMs: null });
  }
}

/** Of a turn in progress: messages that still stream have no state of their own, so they wait for their completion. */
function isComplete(item: ThreadItem): boolean {
  if (item.type === "agentMessage" || item.type === "reasoning") return false;
  return !("status" in item) || item.status !== "inProgress";
}

const maxLiveRows = 6;

function liveRows(state: State, columns: number): Line[] {
  const messages = [...state.messages.values()].flatMap(({ blocks, hasBegun }) => {
    const block = blocks.open();
    const rows = blockRows(
      block.kind === "code" ? { ...block, lines: block.lines.slice(-maxLiveRows) } : block,
      columns - 3,
    );
    const shown = rows.length === 1 && rows[0]?.length === 0 ? [] : rows;
    return shown.length === 0 ? [] : messageRows(shown.slice(-maxLiveRows), !hasBegun);
  });
  const running = [...state.running.values()].flatMap((entry) => runningRows(entry, columns));
  const agents = state.agents.rows(columns);
  const plan = state.plan.length > 0 ? [[], ...planRows(state.plan, columns)] : [];
  return [...messages, ...running, ...agents, ...plan];
}

function runningRows({ item, output }: { item: ThreadItem; output: OutputTail }, columns: number): Line[] {
  if (item.type === "commandExecution") {
    const tail = tailRows(output.lines().slice(-5), columns);
    const state = output.count() > 5 ? `${output.count()} lines` : "";
    return [
      [],
      ...commandRows(commandText(item), { mark: "•", color: "cyan", columns: columns - 1, state }).slice(0, 3),
      ...tail,
    ];
  }
  const cell = itemCell(item);
  return cell ? [[], ...cell(columns - 1).slice(0, maxLiveRows)] : [];
}
