// The log as lines of `exec --json`. Replaying a log gives the same bytes.

import type { StoredRecord } from "@agentcli/engine";
import {
  addCharges,
  callsOf,
  chargeOf,
  collectOutput,
  isShown,
  noCharges,
  type OutputCollector,
} from "@agentcli/engine";
import type {
  Block,
  CallBlock,
  Charges,
  ExecEvent,
  ItemOf,
  NoteData,
  Noted,
  Outcome,
  PlanStep,
  RecordOf,
  SandboxReport,
  ThreadItem,
  TurnEnd,
} from "@agentcli/protocol";
import { decimalUsd } from "@agentcli/protocol/money";
import { schemaVersion } from "@agentcli/protocol/schema-version";
import { beginItem, endMcpCall, hookItem, type NewItem, refusedItem, settledStatus, webSearchItem } from "./items.ts";
import { eventUsage } from "./usage.ts";

export function execEvents(): (stored: StoredRecord) => ExecEvent[] {
  const stream = openStream();
  return (stored) => project(stream, stored);
}

/** What the stream has shown so far: a fold of the log, like the thread itself. */
interface Stream {
  threadId: string;
  shell: string;
  nextItem: number;
  turnOpen: boolean;
  /** The final message of a review is JSON; its text is shown when the turn ends. */
  review: boolean;
  /** Texts of the messages of this turn. */
  messages: Set<string>;
  /** Of this turn; those of its sub-agents are added at its end. */
  charges: Charges;
  plan: ItemOf<"todo_list"> | null;
  calls: Map<string, ShownCall>;
  /** Commands that outlived their call, by session id. */
  sessions: Map<number, ShownCall>;
}

interface ShownCall {
  block: CallBlock;
  item: ThreadItem | null;
  output: OutputCollector;
}

function openStream(): Stream {
  const shown = {
    threadId: "",
    shell: "/bin/sh",
    nextItem: 0,
    turnOpen: false,
    review: false,
    charges: noCharges(),
    plan: null,
  };
  return { ...shown, messages: new Set(), calls: new Map(), sessions: new Map() };
}

function project(stream: Stream, { seq, record }: StoredRecord): ExecEvent[] {
  switch (record.type) {
    case "thread.created":
      stream.threadId = record.threadId;
      return [];
    case "noted":
      return noted(stream, record);
    case "turn.begun":
      Object.assign(stream, { shell: record.settings.shell, turnOpen: true, charges: noCharges() });
      stream.review = record.review !== undefined;
      stream.messages.clear();
      return [{ type: "turn.started" }];
    case "model.replied":
      charge(stream, record);
      for (const { callId, block } of callsOf(seq, record.blocks)) {
        stream.calls.set(callId, { block, item: null, output: collectOutput() });
      }
      return shownBlocks(stream, record.blocks).flatMap((block) => shownBlock(stream, block));
    case "tool.begun":
      return begun(stream, record);
    case "tool.settled":
      return settled(stream, record);
    case "context.compacted":
      charge(stream, record);
      return [];
    case "input.added":
      return [];
    case "turn.ended":
      if (record.agents) charge(stream, record.agents);
      return ended(stream, record.end);
  }
}

function noted(stream: Stream, { kind, data }: Noted): ExecEvent[] {
  switch (kind) {
    case "sandbox":
      return started(stream, data);
    case "retry":
      return [{ type: "error", message: `Reconnecting... ${data.attempt}/${data.of} (${data.reason})` }];
    case "mcp":
      return [completed(stream, { type: "mcp_server", ...data })];
    case "hook":
      return hookNoted(stream, data);
    case "warning":
    case "policy":
      return "message" in data ? [completed(stream, { type: "error", message: data.message })] : [];
    case "budget":
      // What follows is a report on the work so far, not the review.
      stream.review = false;
      return [];
    case "approval":
      return [];
  }
}

/** Notes about the turn rather than about one hook show nothing. */
function hookNoted(stream: Stream, data: NoteData<"hook">): ExecEvent[] {
  const paid = chargeOf(data);
  if (paid) charge(stream, paid);
  return "status" in data ? [completed(stream, hookItem(data))] : [];
}

/** Each process notes its sandbox first: its stream begins there, also in the middle of a turn. */
function started(stream: Stream, sandbox: SandboxReport): ExecEvent[] {
  stream.nextItem = 0;
  stream.plan = null;
  for (const call of stream.calls.values()) call.item = null;
  const thread_id = stream.threadId;
  const first: ExecEvent = { type: "thread.started", thread_id, schema_version: schemaVersion, sandbox };
  return stream.turnOpen ? [first, { type: "turn.started" }] : [first];
}

function shownBlocks({ review }: Stream, blocks: Block[]): Block[] {
  const isFinal = !blocks.some((block) => block.type === "call");
  return blocks.filter((block) => (review && isFinal ? block.type !== "message" : isShown(block, blocks)));
}

function shownBlock(stream: Stream, block: Block): ExecEvent[] {
  if (block.type === "call") return [];
  if (block.type === "message") {
    const { text, phase } = block;
    stream.messages.add(text);
    return [completed(stream, { type: "agent_message", text, ...(phase && { phase }) })];
  }
  if (block.type === "web_search") return wholeItem(stream, webSearchItem(block.action));
  const text = shownReasoning(block);
  return text === "" ? [] : [completed(stream, { type: "reasoning", text })];
}

/** Servers of the chat wire send no summary but the reasoning itself. */
function shownReasoning({ summary, text = "" }: Extract<Block, { type: "reasoning" }>): string {
  return summary.filter((part) => part.trim() !== "").join("\n") || text.trim();
}

function begun(stream: Stream, record: RecordOf<"tool.begun">): ExecEvent[] {
  const call = stream.calls.get(record.callId);
  const item = call && beginItem(record, stream);
  if (!item) return [];
  call.item = number(stream, item);
  return [{ type: "item.started", item: call.item }];
}

function settled(stream: Stream, { callId, outcome }: RecordOf<"tool.settled">): ExecEvent[] {
  const call = stream.calls.get(callId);
  if (!call) return [];
  const { detail } = outcome;
  if (detail.kind === "plan") return planned(stream, detail.steps);
  if (detail.kind === "input") return continued(stream, detail);
  if (detail.kind === "command" && detail.sessionId !== undefined) {
    call.output.add(detail.output);
    stream.sessions.set(detail.sessionId, call);
    return [];
  }
  stream.calls.delete(callId);
  return finished(stream, call, outcome);
}

function finished(stream: Stream, call: ShownCall, outcome: Outcome): ExecEvent[] {
  const refused = call.item ? null : refusedItem(call.block, outcome, stream);
  const item = call.item ?? (refused && number(stream, refused));
  const status = settledStatus(outcome);
  const { reason, detail } = outcome;
  if (item?.type === "command_execution") {
    const { output, exitCode } = detail.kind === "command" ? detail : { output: "", exitCode: null };
    return [
      { type: "item.completed", item: { ...item, aggregated_output: output, exit_code: exitCode, status, reason } },
    ];
  }
  if (item?.type === "file_change") {
    const changes = detail.kind === "patch" ? detail.changes.map(({ path, kind }) => ({ path, kind })) : item.changes;
    return [{ type: "item.completed", item: { ...item, changes, status, reason } }];
  }
  if (item?.type === "web_search") return [{ type: "item.completed", item }];
  if (item?.type === "mcp_tool_call") return [{ type: "item.completed", item: endMcpCall(item, outcome) }];
  if (item?.type === "collab_tool_call") {
    const agents_states = detail.kind === "agents" ? detail.agents : {};
    const receiver_thread_ids = detail.kind === "agents" ? Object.keys(detail.agents) : item.receiver_thread_ids;
    return [{ type: "item.completed", item: { ...item, agents_states, receiver_thread_ids, status, reason } }];
  }
  return unshown(stream, call, outcome);
}

/** Calls of other tools are not shown, unless they were refused or invalid. */
function unshown(stream: Stream, { block }: ShownCall, { status, reason = "" }: Outcome): ExecEvent[] {
  const misunderstood = reason.startsWith("unsupported call") || reason.startsWith(`${block.name}: `);
  if (status === "declined") return [completed(stream, { type: "error", message: `${block.name}: ${reason}` })];
  return status === "failed" && misunderstood ? [completed(stream, { type: "error", message: reason })] : [];
}

function continued(stream: Stream, detail: Extract<Outcome["detail"], { kind: "input" }>): ExecEvent[] {
  const call = stream.sessions.get(detail.sessionId);
  if (!call) return [];
  call.output.add(detail.output);
  if (detail.running) return [];
  stream.sessions.delete(detail.sessionId);
  return commandEnded(call, detail.exitCode);
}

function commandEnded({ item, output }: ShownCall, exitCode: number | null, reason?: string): ExecEvent[] {
  if (item?.type !== "command_execution") return [];
  const status = exitCode === 0 ? "completed" : "failed";
  const ended = { ...item, aggregated_output: output.text(), exit_code: exitCode, status, reason } as const;
  return [{ type: "item.completed", item: ended }];
}

function planned(stream: Stream, plan: PlanStep[]): ExecEvent[] {
  const items = plan.map(({ step, status }) => ({ text: step, completed: status === "completed" }));
  const first = stream.plan === null;
  stream.plan = stream.plan ? { ...stream.plan, items } : { id: nextId(stream), type: "todo_list", items };
  return [{ type: first ? "item.started" : "item.updated", item: stream.plan }];
}

function ended(stream: Stream, end: TurnEnd): ExecEvent[] {
  const messages = answers(stream, end).map((text) => completed(stream, { type: "agent_message", text }));
  const plan: ExecEvent[] = stream.plan ? [{ type: "item.completed", item: stream.plan }] : [];
  const commands = [...stream.sessions.values()].flatMap((call) => commandEnded(call, null, "ended with the turn"));
  const last = terminal(stream, end);
  Object.assign(stream, { plan: null, turnOpen: false });
  stream.sessions.clear();
  stream.calls.clear();
  return [...messages, ...plan, ...commands, last];
}

/** The final message, where it is not what the model wrote: findings as text, JSON without the code block around it. */
function answers({ review, messages }: Stream, end: TurnEnd): string[] {
  if (end.status !== "completed") return [];
  const isChanged = messages.size > 0 && !messages.has(end.message);
  return review || isChanged ? [end.message] : [];
}

function terminal(stream: Stream, end: TurnEnd): ExecEvent {
  switch (end.status) {
    case "completed":
      return { type: "turn.completed", usage: eventUsage(stream.charges.usage), cost_usd: costOf(stream.charges) };
    case "cancelled":
      return { type: "turn.failed", error: { message: end.reason, code: "interrupted" } };
    case "failed": {
      const { message, code, limit, retryAfterSeconds } = end;
      return { type: "turn.failed", error: { message, code, limit, retry_after_s: retryAfterSeconds } };
    }
  }
}

function charge(stream: Stream, paid: Parameters<typeof addCharges>[1]): void {
  stream.charges = addCharges(stream.charges, paid);
}

const costOf = ({ costUsd }: Charges): string | null => (costUsd === null ? null : decimalUsd(costUsd));
function wholeItem(stream: Stream, item: NewItem): ExecEvent[] {
  const numbered = number(stream, item);
  return [
    { type: "item.started", item: numbered },
    { type: "item.completed", item: numbered },
  ];
}

const completed = (stream: Stream, item: NewItem): ExecEvent => ({
  type: "item.completed",
  item: number(stream, item),
});
const number = (stream: Stream, item: NewItem): ThreadItem => ({ id: nextId(stream), ...item }) as ThreadItem;
const nextId = (stream: Stream): string => `item_${stream.nextItem++}`;
