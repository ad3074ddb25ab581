// The trace of a run, derived from the records of its threads: turns, requests to models, calls of tools. By the
// conventions for generative AI; prompts, replies and arguments only where the user has asked for them.
import type { StoredRecord } from "@agentcli/engine";
import type { Block, Outcome, RecordOf, ThreadRecord, TurnEnd, TurnSettings, Usage } from "@agentcli/protocol";
import { type Attributes, newSpanId, type Span, type TraceContext } from "./span.ts";

export interface TraceOptions {
  /** The span of the first turn. */
  root: TraceContext & { parentSpanId: string | undefined };
  agentName: string;
  /** Of the spans of turns. */
  attributes: Attributes;
  content: "included" | "left out";
  onSpan(span: Span): void;
  onRequest(request: RequestFigures): void;
}

/** One request to a model, for metrics. */
export interface RequestFigures {
  atMs: number;
  durationMs: number;
  usage: Usage;
  attributes: Attributes;
}

export interface Trace {
  take(threadId: string, stored: StoredRecord): void;
}

interface OpenSpan {
  spanId: string;
  startMs: number;
  attributes: Attributes;
}

interface Thread {
  settings: TurnSettings | null;
  /** Of the spans of its turns: what started the thread. */
  parent: string | undefined;
  role: string | undefined;
  turn: OpenSpan | null;
  tools: Map<string, OpenSpan & { name: string }>;
  /** Of the newest record: a request begins right after it. */
  lastMs: number;
}

interface OpenTrace {
  options: TraceOptions;
  threads: Map<string, Thread>;
  /** Threads that a call creates, with the span of the call. */
  created: Map<string, string>;
  /** Of the first turn: commands know it before it begins. */
  nextTurnSpan: string | undefined;
}

/** A record, where it was stored and when. */
interface Moment {
  trace: OpenTrace;
  threadId: string;
  thread: Thread;
  atMs: number;
}

export function openTrace(options: TraceOptions): Trace {
  const trace: OpenTrace = { options, threads: new Map(), created: new Map(), nextTurnSpan: options.root.spanId };
  return {
    take(threadId, { at, record }) {
      const thread = threadOf(trace, threadId);
      const moment = { trace, threadId, thread, atMs: Date.parse(at) };
      takeRecord(moment, record);
      thread.lastMs = moment.atMs;
    },
  };
}

function takeRecord(moment: Moment, record: ThreadRecord): void {
  const { thread } = moment;
  switch (record.type) {
    case "thread.created":
      createThread(moment, record);
      return;
    case "turn.begun":
      beginTurn(moment, record);
      return;
    case "noted":
      if (record.kind === "policy" && "settings" in record.data) thread.settings = record.data.settings;
      return;
    case "input.added":
      return;
    case "model.replied":
    case "context.compacted":
      request(moment, record);
      return;
    case "tool.begun":
      beginTool(moment, record);
      return;
    case "tool.settled":
      endTool(moment, record);
      return;
    case "turn.ended":
      endTurn(moment, record);
      return;
  }
}

function threadOf({ threads, options: { root } }: OpenTrace, id: string): Thread {
  const known = threads.get(id);
  if (known) return known;
  const parent = threads.size === 0 ? root.parentSpanId : root.spanId;
  const thread: Thread = { settings: null, parent, role: undefined, turn: null, tools: new Map(), lastMs: 0 };
  threads.set(id, thread);
  return thread;
}

function createThread({ trace, thread, threadId }: Moment, { role, parentId }: RecordOf<"thread.created">): void {
  thread.role = role;
  if (parentId !== undefined) thread.parent = trace.created.get(threadId) ?? trace.options.root.spanId;
}

/** A process that resumes a turn has not seen its beginning: for its trace the turn begins here. */
function turnOf({ trace, thread, threadId, atMs }: Moment): OpenSpan {
  const { agentName, attributes } = trace.options;
  thread.turn ??= {
    spanId: trace.nextTurnSpan ?? newSpanId(),
    startMs: thread.lastMs || atMs,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": thread.role ?? agentName,
      "gen_ai.conversation.id": threadId,
      ...(thread.role === undefined && attributes),
    },
  };
  trace.nextTurnSpan = undefined;
  return thread.turn;
}

function beginTurn(moment: Moment, record: RecordOf<"turn.begun">): void {
  const { thread, trace, atMs } = moment;
  thread.settings = record.settings;
  thread.turn = null;
  const turn = turnOf(moment);
  turn.startMs = atMs;
  Object.assign(turn.attributes, {
    ...modelAttributes(record.settings),
    ...(trace.options.content === "included" && { "gen_ai.input.messages": messages("user", record.input) }),
  });
}

type Ending = Pick<Span, "name" | "kind" | "parentSpanId" | "error">;

function emit({ trace: { options }, atMs }: Moment, open: OpenSpan, ending: Ending): void {
  options.onSpan({ traceId: options.root.traceId, ...open, ...ending, endMs: atMs });
}

function request(moment: Moment, { usage, model, blocks = [] }: PaidRequest): void {
  const { thread, trace, atMs } = moment;
  const { options } = trace;
  const turn = turnOf(moment);
  const attributes = {
    "gen_ai.operation.name": "chat",
    ...(thread.settings && modelAttributes(thread.settings)),
    "gen_ai.response.model": model,
  };
  const startMs = thread.lastMs || atMs;
  options.onRequest({ atMs, durationMs: Math.max(0, atMs - startMs), usage, attributes });
  const open = {
    spanId: newSpanId(),
    startMs,
    attributes: {
      ...attributes,
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteInputTokens,
      "gen_ai.response.finish_reasons": [blocks.some(({ type }) => type === "call") ? "tool_call" : "stop"],
      ...(options.content === "included" && { "gen_ai.output.messages": messages("assistant", blocks) }),
    },
  };
  emit(moment, open, {
    name: `chat ${thread.settings?.model ?? model}`,
    kind: "client",
    parentSpanId: turn.spanId,
  });
}

function beginTool(moment: Moment, { callId, name, makes, mcp, args }: RecordOf<"tool.begun">): void {
  const { thread, trace, atMs } = moment;
  turnOf(moment);
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.type": mcp ? "extension" : "function",
    ...(trace.options.content === "included" && { "gen_ai.tool.call.arguments": JSON.stringify(args) }),
  };
  const open = { spanId: newSpanId(), startMs: atMs, attributes, name };
  thread.tools.set(callId, open);
  if (makes !== undefined) trace.created.set(makes, open.spanId);
}

function endTool(moment: Moment, { callId, outcome }: RecordOf<"tool.settled">): void {
  const { thread, trace } = moment;
  const open = thread.tools.get(callId);
  if (!open) return;
  thread.tools.delete(callId);
  const { name, ...span } = open;
  const result = trace.options.content === "included" ? { "gen_ai.tool.call.result": textOf(outcome) } : {};
  const attributes = { ...span.attributes, ...result };
  emit(
    moment,
    { ...span, attributes },
    {
      name: `execute_tool ${name}`,
      kind: "internal",
      parentSpanId: turnOf(moment).spanId,
      error: outcome.status === "completed" ? undefined : outcome.status,
    },
  );
}

function endTurn(moment: Moment, { end }: RecordOf<"turn.ended">): void {
  const { thread, trace } = moment;
  const turn = turnOf(moment);
  thread.turn = null;
  const name = `invoke_agent ${thread.role ?? trace.options.agentName}`;
  emit(moment, turn, { name, kind: "internal", parentSpanId: thread.parent, error: errorOf(end) });
}

function errorOf(end: TurnEnd): string | undefined {
  if (end.status === "completed") return undefined;
  return end.status === "failed" ? end.code : "cancelled";
}

type PaidRequest = Pick<RecordOf<"model.replied">, "usage" | "model"> & { blocks?: Block[] };

const modelAttributes = ({ provider, model }: TurnSettings): Attributes => ({
  "gen_ai.provider.name": providerNames[provider] ?? provider,
  "gen_ai.request.model": model,
});

/** As the conventions call them. */
const providerNames: Record<string, string> = {
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  xai: "x_ai",
};

const messages = (role: string, parts: { type: string }[]): string => JSON.stringify([{ role, parts }]);

const textOf = ({ parts }: Outcome): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
