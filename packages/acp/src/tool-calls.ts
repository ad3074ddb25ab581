// Commands, edits and tools as tool calls of the protocol.
import { resolve } from "node:path";
import type { FileUpdateChange, ThreadItem, ThreadItemOf } from "@agentcli/protocol/app-server";
import type { ToolCall, ToolCallContent, ToolCallStatus } from "@agentclientprotocol/sdk";
import { type DiskState, diffContent } from "./diffs.ts";

export interface Look {
  cwd: string;
  /** The editor shows output that it is sent as a terminal. */
  hasTerminals: boolean;
}

/** Null for items that are messages, or nothing to show. */
export function toolCallOf(item: ThreadItem, look: Look): ToolCall | null {
  switch (item.type) {
    case "commandExecution":
      return commandCall(item, look);
    case "fileChange":
      return editCall(item, look);
    case "mcpToolCall":
      return {
        ...called(item.id, `${item.server}: ${item.tool}`, item.status),
        kind: "other",
        rawInput: item.arguments,
        content: item.error ? [textContent(item.error.message)] : (item.result?.content ?? []).map(resultContent),
      };
    case "dynamicToolCall":
      return { ...called(item.id, item.tool, item.status), kind: "other", rawInput: item.arguments };
    case "collabAgentToolCall":
      return agentCall(item);
    case "webSearch":
      return { ...called(item.id, `Search the web: ${item.query}`, "completed"), kind: "fetch" };
    case "imageView": {
      const path = resolve(look.cwd, item.path);
      return { ...called(item.id, `Look at ${item.path}`, "completed"), kind: "read", locations: [{ path }] };
    }
    default:
      return null;
  }
}

const statuses: Record<string, ToolCallStatus> = {
  inProgress: "in_progress",
  completed: "completed",
  failed: "failed",
  declined: "failed",
};

const called = (toolCallId: string, title: string, status: string) => ({
  toolCallId,
  title,
  status: statuses[status] ?? "in_progress",
});

export const textContent = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } });

function resultContent(content: unknown): ToolCallContent {
  const { type, text, data, mimeType } = (content ?? {}) as Record<string, unknown>;
  if (type === "image" && typeof data === "string" && typeof mimeType === "string")
    return { type: "content", content: { type: "image", data, mimeType } };
  return textContent(typeof text === "string" ? text : JSON.stringify(content));
}

/** The command as it was written, without the shell around it. */
export const commandText = ({
  command,
  commandActions,
}: {
  command?: string | null | undefined;
  commandActions?: { command: string }[] | null | undefined;
}): string => commandActions?.[0]?.command || command || "";

function commandCall(item: ThreadItemOf<"commandExecution">, { hasTerminals }: Look): ToolCall {
  const command = commandText(item);
  const isOver = item.status !== "inProgress";
  const status = item.status === "completed" && (item.exitCode ?? 0) !== 0 ? "failed" : item.status;
  const exit = { exit_code: item.exitCode ?? null, signal: null };
  return {
    ...called(item.id, command, status),
    kind: "execute",
    rawInput: { command, cwd: item.cwd },
    ...(hasTerminals && { content: [{ type: "terminal", terminalId: item.id }] }),
    ...(!hasTerminals && isOver && { content: outputContent(item.aggregatedOutput ?? "") }),
    ...(isOver && { rawOutput: { exitCode: item.exitCode ?? null, durationMs: item.durationMs ?? null } }),
    _meta: hasTerminals
      ? isOver
        ? { terminal_exit: { terminal_id: item.id, ...exit } }
        : { terminal_info: { terminal_id: item.id, cwd: item.cwd } }
      : null,
  };
}

/** What an editor without terminals is shown of a long output: the end of it. */
const maxOutput = 16 * 1024;

export function outputContent(output: string): ToolCallContent[] {
  if (output === "") return [];
  const shown = output.slice(-maxOutput);
  const fence = "`".repeat(Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const cut = shown.length < output.length ? "…\n" : "";
  return [textContent(`${fence}\n${cut}${shown.replace(/\n$/, "")}\n${fence}`)];
}

function editCall({ id, changes, status }: ThreadItemOf<"fileChange">, { cwd }: Look): ToolCall {
  return {
    ...called(id, editTitle(changes), status),
    kind: changes.every(({ kind }) => kind.type === "delete") ? "delete" : "edit",
    content: diffsOf(changes, cwd, status === "completed" ? "after" : "before"),
    locations: changes.map(({ path }) => ({ path: resolve(cwd, path) })),
  };
}

const verbs = { add: "Add", delete: "Delete", update: "Edit" } as const;

export const editTitle = (changes: FileUpdateChange[]): string =>
  changes.map(({ kind, path }) => `${verbs[kind.type]} ${path}`).join(", ") || "Edit files";

export const diffsOf = (changes: FileUpdateChange[], cwd: string, disk: DiskState): ToolCallContent[] =>
  changes.map((change) => diffContent(change, cwd, disk));

const agentVerbs = {
  spawnAgent: "Start a sub-agent",
  sendInput: "Write to a sub-agent",
  resumeAgent: "Resume a sub-agent",
  wait: "Wait for sub-agents",
  closeAgent: "Close a sub-agent",
} as const;

function agentCall({ id, tool, status, prompt, agentsStates }: ThreadItemOf<"collabAgentToolCall">): ToolCall {
  const lines = Object.values(agentsStates).map((state) => [state.status, state.message].filter(Boolean).join(": "));
  return {
    ...called(id, prompt ? `${agentVerbs[tool]}: ${prompt.split("\n")[0]}` : agentVerbs[tool], status),
    kind: "think",
    content: lines.length === 0 ? [] : [textContent(lines.join("\n\n"))],
  };
}
