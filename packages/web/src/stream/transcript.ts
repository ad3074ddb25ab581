// The frames of a run's stream as a list of what people read: messages, commands, edits. The same frames give the same list.
import type { StreamFrame } from "@agentcli/protocol/api";

export type CallStatus = "running" | "completed" | "error";

interface Call {
  key: string;
  status: CallStatus;
  /** Of a failed call. */
  problem?: string;
}

export type Item =
  | { kind: "text"; key: string; text: string }
  /** What its requester added while it ran. */
  | { kind: "user"; key: string; text: string }
  | { kind: "thinking"; key: string; text: string; durationMs?: number }
  | ({ kind: "command"; command: string; output: string; exitCode?: number; durationMs?: number } & Call)
  | ({ kind: "edit"; path: string; diff: string; added: number; removed: number } & Call)
  | ({ kind: "plan"; todos: Todo[] } & Call)
  | ({ kind: "task"; description: string; prompt: string; action: TaskAction; subagentId: string } & Call)
  | ({ kind: "tool"; name: string; subject: string; result: string } & Call)
  | ({ kind: "hook"; event: string; hook: string; outcome: string; durationMs?: number; isInSubagent: boolean } & Call)
  /** A connection that the sandbox did not allow. */
  | { kind: "blocked"; key: string; host: string; text: string }
  /** An MCP server that the run does without. */
  | { kind: "server"; key: string; name: string; text: string }
  | { kind: "warning"; key: string; text: string }
  | { kind: "note"; key: string; text: string };

/** What a call does with sub-agents. */
export type TaskAction = "start" | "wait" | "write" | "close";

export interface Todo {
  content: string;
  status: string;
}

export interface Transcript {
  /** Items are replaced, never changed: those that stay the same need not be drawn again. */
  items: Item[];
  /** Where each call is among the items. */
  calls: Map<string, number>;
  status: string | null;
  /** The prompt was received: later messages of people were added to the run. */
  hasPrompt: boolean;
  /** The whole run was received. */
  isDone: boolean;
}

export const emptyTranscript = (): Transcript => ({
  ...{ items: [], calls: new Map(), status: null, hasPrompt: false, isDone: false },
});

/** More of a command's output is not kept: its end is what is new. */
const maxOutput = 200_000;

/** Changes the transcript in place: copying it for each of 20,000 frames would take seconds. */
export function applyFrame(transcript: Transcript, frame: StreamFrame): void {
  const { items } = transcript;
  switch (frame.event) {
    case "status":
      transcript.status = frame.data.status;
      break;
    case "assistant":
      appendText(items, "text", frame.data.text);
      break;
    case "thinking":
      appendText(items, "thinking", frame.data.text);
      break;
    case "tool_call":
      applyCall(transcript, frame.data);
      break;
    case "interaction_update":
      if (frame.data.type === "user-message-appended") applyMessage(transcript, frame.data.userMessage.text);
      else applyUpdate(transcript, frame.data);
      break;
    case "result":
      transcript.status = frame.data.status;
      addResult(items, frame.data.text);
      break;
    case "done":
      transcript.isDone = true;
      break;
    case "error":
      items.push({ kind: "note", key: nextKey(items), text: frame.data.message });
      // The run is gone, or has ended without an event: nothing follows.
      if (frame.data.code === "not_found" || frame.data.code === "internal") transcript.isDone = true;
      break;
    case "heartbeat":
      break;
  }
}

function applyMessage(transcript: Transcript, text: string): void {
  const { items } = transcript;
  if (transcript.hasPrompt) items.push({ kind: "user", key: nextKey(items), text });
  transcript.hasPrompt = true;
}

const nextKey = (items: Item[]): string => `item-${items.length}`;

function appendText(items: Item[], kind: "text" | "thinking", text: string): void {
  const last = items.at(-1);
  if (last?.kind === kind) items[items.length - 1] = { ...last, text: last.text + text };
  else items.push({ kind, key: nextKey(items), text });
}

/** Streams of older runs may lack the last message, which the result repeats. */
function addResult(items: Item[], text: string | undefined): void {
  if (text === undefined || text === "") return;
  const isShown = items.some((item) => item.kind === "text" && item.text.includes(text));
  if (!isShown) items.push({ kind: "text", key: nextKey(items), text });
}

type CallData = Extract<StreamFrame, { event: "tool_call" }>["data"];

function applyCall({ items, calls }: Transcript, data: CallData): void {
  const index = calls.get(data.callId) ?? items.length;
  calls.set(data.callId, index);
  items[index] = callItem(data, items[index]);
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (value !== null && typeof value === "object" ? (value as Fields) : {});
const textIn = (fields: Fields, name: string): string => {
  const value = fields[name];
  return typeof value === "string" ? value : "";
};
const numberIn = (fields: Fields, name: string): number | undefined => {
  const value = fields[name];
  return typeof value === "number" ? value : undefined;
};

function callItem({ callId, name, status, args, result }: CallData, before: Item | undefined): Item {
  const given = fieldsOf(args);
  const success = fieldsOf(fieldsOf(result).success);
  const problem = textIn(fieldsOf(fieldsOf(result).error), "message");
  const call: Call = { key: callId, status, ...(problem !== "" && { problem }) };
  switch (name) {
    case "run_terminal_cmd":
      return commandItem(call, { given, success, before });
    case "edit":
      return {
        ...{ kind: "edit", ...call, path: textIn(given, "path"), diff: textIn(success, "diffString") },
        ...{ added: numberIn(success, "linesAdded") ?? 0, removed: numberIn(success, "linesRemoved") ?? 0 },
      };
    case "write":
      return writeItem(call, given);
    case "delete":
      return { kind: "edit", ...call, path: textIn(given, "path"), diff: "", added: 0, removed: 0 };
    case "updateTodos":
      return { kind: "plan", ...call, todos: todosIn(success.todos ?? given.todos) };
    case "warning":
      return warningItem(callId, given, problem);
    case "hook":
      return hookItem(call, given);
    case "task":
      return taskItem(call, given, success);
    case "mcp":
      if (textIn(given, "toolName") === "") return serverItem(callId, given, problem);
      return { kind: "tool", ...call, ...mcpCall(given), result: textOf(success) };
    default:
      return { kind: "tool", ...call, name, subject: subjectOf(given), result: textOf(success) };
  }
}

function taskItem(call: Call, given: Fields, success: Fields): Item {
  const prompt = textIn(given, "prompt");
  const action: TaskAction =
    prompt !== ""
      ? "start"
      : given.targets !== undefined
        ? "wait"
        : textIn(given, "message") !== ""
          ? "write"
          : "close";
  return {
    ...{ kind: "task", ...call, action, description: textIn(given, "description") },
    prompt: prompt || textIn(given, "message"),
    subagentId: textIn(success, "agentId"),
  };
}

interface CommandFields {
  given: Fields;
  success: Fields;
  before: Item | undefined;
}

function commandItem(call: Call, { given, success, before }: CommandFields): Item {
  const former = before?.kind === "command" ? before : undefined;
  const exitCode = numberIn(success, "exitCode");
  const durationMs = numberIn(success, "executionTime");
  return {
    ...{ kind: "command", ...call },
    command: textIn(given, "command") || (former?.command ?? ""),
    output: textIn(success, "stdout") || (former?.output ?? ""),
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

function writeItem(call: Call, given: Fields): Item {
  const lines = textIn(given, "fileText").replace(/\n$/, "").split("\n");
  const diff = `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`;
  return { kind: "edit", ...call, path: textIn(given, "path"), diff, added: lines.length, removed: 0 };
}

function todosIn(value: unknown): Todo[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry) => {
    const fields = fieldsOf(entry);
    return { content: textIn(fields, "content"), status: textIn(fields, "status") };
  });
}

const mcpCall = (given: Fields) => ({
  name: `${textIn(given, "providerIdentifier")} · ${textIn(given, "toolName")}`,
  subject: subjectOf(given),
});

function warningItem(key: string, given: Fields, text: string): Item {
  const host = textIn(given, "host");
  if (host === "") return { kind: "warning", key, text };
  return { kind: "blocked", key, host: `${host}:${numberIn(given, "port") ?? ""}`, text };
}

const serverItem = (key: string, given: Fields, text: string): Item => ({
  ...{ kind: "server", key, name: textIn(given, "providerIdentifier"), text },
});

function hookItem(call: Call, given: Fields): Item {
  const durationMs = numberIn(given, "durationMs");
  return {
    ...{ kind: "hook", ...call, event: textIn(given, "event"), hook: textIn(given, "hook") },
    outcome: textIn(given, "outcome"),
    ...(durationMs !== undefined && { durationMs }),
    isInSubagent: textIn(given, "subagentId") !== "",
  };
}

const subjectOf = (given: Fields): string =>
  textIn(given, "path") || textIn(given, "pattern") || textIn(given, "query") || textIn(given, "url");

function textOf(success: Fields): string {
  const direct = textIn(success, "content") || textIn(success, "text") || textIn(success, "message");
  if (direct !== "") return direct;
  const parts = Array.isArray(success.content) ? success.content : [];
  return parts.map((part) => textIn(fieldsOf(fieldsOf(part).text), "text")).join("\n");
}

type Update = Extract<StreamFrame, { event: "interaction_update" }>["data"];

function applyUpdate({ items, calls }: Transcript, update: Update): void {
  if (update.type === "shell-output-delta") {
    const index = calls.get(update.event.callId) ?? -1;
    const item = items[index];
    if (item?.kind !== "command" || item.status !== "running") return;
    items[index] = { ...item, output: (item.output + update.event.value.data).slice(-maxOutput) };
  }
  if (update.type === "thinking-completed") {
    const index = items.findLastIndex(({ kind }) => kind === "thinking");
    const item = items[index];
    if (item?.kind === "thinking") items[index] = { ...item, durationMs: update.thinkingDurationMs };
  }
  if (update.type === "summary")
    items.push({ kind: "note", key: nextKey(items), text: "The conversation so far was summarized to make room." });
}
