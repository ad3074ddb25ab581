// The log as progress for people, on standard error. The final message goes to standard output instead.

import type { StoredRecord } from "@agentcli/engine";
import type { ExecEvent, ItemOf, RecordOf, SandboxReport, ThreadItem } from "@agentcli/protocol";
import { execEvents } from "./exec-jsonl.ts";
import { isReading } from "./items.ts";

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

interface Screen {
  paint: Paint;
  version: string;
  threadId: string;
  sandbox: SandboxReport | null;
  /** Duration of the command that is shown next. */
  durationMs: number;
}

/** Text of an event where it is shown differently; null otherwise. */
export type ShowEvent = (event: ExecEvent) => string | null;

/** Each record as text; empty if it shows nothing. */
export function humanText(
  paint: Paint,
  version: string,
  instead: ShowEvent = () => null,
): (stored: StoredRecord) => string {
  const project = execEvents();
  const screen: Screen = { paint, version, threadId: "", sandbox: null, durationMs: 0 };
  return (stored) => {
    const events = project(stored);
    observe(screen, stored);
    if (stored.record.type === "turn.begun") return banner(screen, stored.record);
    if (stored.record.type === "context.compacted") return `${paint.dim("context compacted")}\n`;
    return events.map((event) => instead(event) ?? show(screen, event)).join("");
  };
}

function observe(screen: Screen, { record }: StoredRecord): void {
  if (record.type === "thread.created") screen.threadId = record.threadId;
  if (record.type === "noted" && record.kind === "sandbox") screen.sandbox = record.data;
  if (record.type === "tool.settled" && "durationMs" in record.outcome.detail) {
    screen.durationMs = record.outcome.detail.durationMs;
  }
}

function banner({ paint, version, threadId, sandbox }: Screen, { settings, input }: RecordOf<"turn.begun">): string {
  const rows = [
    ["workdir", settings.cwd],
    ["model", settings.model],
    ["provider", settings.provider],
    ["approval", settings.approval],
    [
      "sandbox",
      sandbox && sandbox.backend !== "none"
        ? `${sandbox.mode} (${sandbox.backend}, network ${sandbox.net})`
        : settings.sandbox,
    ],
    ["reasoning effort", settings.effort ?? "none"],
    ["session id", threadId],
  ];
  const prompt = input.map((part) => (part.type === "text" ? part.text : `[image ${part.name ?? ""}]`)).join("\n");
  const table = rows.map(([key, value]) => `${paint.bold(`${key}:`)} ${value}`).join("\n");
  return `agentcli v${version}\n--------\n${table}\n--------\n${paint.bold("user")}\n${shorten(prompt)}\n`;
}

function show(screen: Screen, event: ExecEvent): string {
  const { paint } = screen;
  switch (event.type) {
    case "item.started":
      return showStarted(screen, event.item);
    case "item.updated":
      return showPlan(screen, event.item);
    case "item.completed":
      return showItem(screen, event.item);
    case "turn.completed": {
      const { input_tokens, cached_input_tokens, output_tokens } = event.usage;
      const cost = event.cost_usd === null ? "" : ` (${event.cost_usd} USD)`;
      return `${paint.dim("tokens used")}\n${grouped(input_tokens - cached_input_tokens + output_tokens)}${cost}\n`;
    }
    case "turn.failed":
      return `${paint.bad("ERROR:")} ${event.error.message}\n`;
    // Within a run only a retry is one; what cannot be retried fails the turn.
    case "error":
      return `${paint.bad("warning:")} ${event.message}\n`;
    case "thread.started":
    case "turn.started":
      return "";
  }
}

function showStarted(screen: Screen, item: ThreadItem): string {
  const { bold } = screen.paint;
  if (item.type === "mcp_tool_call" && isReading(item)) return "";
  if (item.type === "mcp_tool_call") return `${bold("mcp:")} ${item.server}/${item.tool} started\n`;
  return item.type === "command_execution" ? `${bold("exec")}\n${item.command}\n` : showPlan(screen, item);
}

function showItem(screen: Screen, item: ThreadItem): string {
  const { paint } = screen;
  switch (item.type) {
    case "agent_message":
      return `${paint.bold("agentcli")}\n${item.text}\n`;
    case "reasoning":
      return `${paint.dim(item.text)}\n`;
    case "command_execution":
      return showCommand(screen, item);
    case "file_change": {
      const paths = item.changes.map((change) => `${change.kind} ${change.path}\n`).join("");
      return `${paint.bold("apply patch")}\npatch: ${item.status}${item.reason ? ` (${item.reason})` : ""}\n${paths}`;
    }
    case "collab_tool_call": {
      const states = Object.entries(item.agents_states).map(([id, state]) => `  ${id} ${state.status}\n`);
      return `${paint.bold("agents:")} ${item.tool} ${item.status}\n${states.join("")}`;
    }
    case "hook": {
      const event = item.agent_id === undefined ? item.event : `${item.event} (agent ${item.agent_id})`;
      const line = `hook: ${event} ${item.status}${item.reason ? `: ${item.reason}` : ""}`;
      return `${item.status === "completed" ? paint.dim(line) : paint.bold(line)}\n`;
    }
    case "error":
      return `${paint.bad("warning:")} ${item.message}\n`;
    case "web_search":
      return `${paint.bold("web:")} ${item.query}\n`;
    case "mcp_tool_call":
      return isReading(item) ? showRefusedReading(screen, item) : showMcpCall(screen, item);
    case "mcp_server":
      return item.status === "ready" ? "" : `${paint.bad(`mcp: ${item.name} ${item.status}:`)} ${item.reason ?? ""}\n`;
    case "todo_list":
      return "";
  }
}

function showCommand({ paint, durationMs }: Screen, item: ItemOf<"command_execution">): string {
  if (item.status === "declined") {
    return `${paint.bold("exec")}\n${item.command}\n ${paint.bad("declined:")} ${item.reason ?? ""}\n`;
  }
  const took = `in ${Math.round(durationMs)}ms`;
  const output = item.aggregated_output && `${shorten(item.aggregated_output.trimEnd())}\n`;
  if (item.exit_code === 0) return ` ${paint.good(`succeeded ${took}:`)}\n${output}`;
  const how = item.exit_code === null ? (item.reason ?? "ended") : `exited ${item.exit_code} ${took}`;
  return ` ${paint.bad(`${how}:`)}\n${output}`;
}

function showMcpCall({ paint, durationMs }: Screen, item: ItemOf<"mcp_tool_call">): string {
  const took = item.status === "declined" ? "" : ` in ${Math.round(durationMs)}ms`;
  const how = `(${item.status}${took})`;
  const mark = item.status === "completed" ? paint.good(how) : paint.bad(how);
  const failure = item.error ? `${item.error.message}\n` : "";
  return `${paint.bold("mcp:")} ${item.server}/${item.tool} ${mark}\n${shorten(failure)}`;
}

/** Of calls that only read, those that were declined or invalid. */
function showRefusedReading({ paint }: Screen, { tool, status, reason = "" }: ItemOf<"mcp_tool_call">): string {
  const isInvalid = status === "failed" && reason.startsWith(`${tool}: `);
  if (status !== "declined" && !isInvalid) return "";
  return `${paint.bad("warning:")} ${isInvalid ? reason : `${tool}: ${reason}`}\n`;
}

function showPlan({ paint }: Screen, item: ThreadItem): string {
  if (item.type !== "todo_list") return "";
  const steps = item.items.map((step) => `  ${step.completed ? paint.good("✓") : "•"} ${step.text}\n`);
  return `${paint.bold("plan")}\n${steps.join("")}`;
}

const maxLines = 40;

/** Long output is in the session file; here only its beginning and end are shown. */
function shorten(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= maxLines) return text;
  const half = maxLines / 2;
  const left = lines.length - maxLines;
  return [...lines.slice(0, half), `[… ${left} ${left === 1 ? "line" : "lines"} …]`, ...lines.slice(-half)].join("\n");
}

/** 12345 as 12,345, without loading locale data. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
