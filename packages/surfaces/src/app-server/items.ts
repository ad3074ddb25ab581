// Calls of the log as items of the app server.

import type { Json } from "@agentcli/engine";
import { agentToolNames, isEditTool, proposedEdits } from "@agentcli/engine";
import type { AgentState, CallBlock, McpOrigin, Outcome, Part, WebSearchAction } from "@agentcli/protocol";
import type {
  CollabAgentState,
  FileUpdateChange,
  ThreadItem,
  ThreadItemOf,
  UserInput,
} from "@agentcli/protocol/app-server";
import { unifiedDiffOf } from "../diff.ts";
import { webActionOf, webQuery } from "../items.ts";
import { shellJoin } from "../shell-join.ts";

export interface ThreadLocation {
  threadId: string;
  cwd: string;
  shell: string;
}

export interface ShownCall {
  callId: string;
  name: string;
  args: unknown;
  mcp?: McpOrigin | undefined;
}

export const itemIdOf = (callId: string): string => `call-${callId}`;

/** The item of a call that begins; null for calls that only read, which are not shown. */
export function beginItem({ callId, name, args, mcp }: ShownCall, thread: ThreadLocation): ThreadItem | null {
  const id = itemIdOf(callId);
  if (mcp) return { id, type: "mcpToolCall", ...mcp, status: "inProgress", arguments: args as Json };
  if (name === "exec_command") return command(id, fields(args), thread);
  if (isEditTool(name)) return { id, type: "fileChange", changes: changesOf(name, args), status: "inProgress" };
  if (name === "view_image") return { id, type: "imageView", path: String(fields(args).path ?? "") };
  const web = webActionOf(name, args);
  if (web) return webItem(id, web);
  return agentToolNames.includes(name) ? collaboration(id, name, fields(args), thread) : null;
}

export const webItem = (id: string, action: WebSearchAction): ThreadItemOf<"webSearch"> => ({
  id,
  type: "webSearch",
  query: webQuery(action),
  action: appServerAction(action),
});

function appServerAction(action: WebSearchAction): ThreadItemOf<"webSearch">["action"] {
  switch (action.type) {
    case "open_page":
      return { ...action, type: "openPage" };
    case "find_in_page":
      return { ...action, type: "findInPage" };
    case "search":
    case "other":
      return action;
  }
}

/** The item of a call that never began, from the text of the model. */
export function unbegunCall(callId: string, block: CallBlock, { detail }: Outcome): ShownCall {
  const mcp = detail.kind === "mcp" ? { server: detail.server, tool: detail.tool } : undefined;
  return { callId, name: block.name, args: argumentsOf(block), mcp };
}

export function endItem(item: ThreadItem, outcome: Outcome): ThreadItem {
  const { detail } = outcome;
  const status = outcome.status === "interrupted" ? "failed" : outcome.status;
  const callStatus = status === "declined" ? "failed" : status;
  switch (item.type) {
    case "commandExecution": {
      if (detail.kind !== "command") return { ...item, status };
      const { output, exitCode, durationMs } = detail;
      return { ...item, status, aggregatedOutput: output, exitCode, durationMs: Math.round(durationMs) };
    }
    case "fileChange":
      return { ...item, status };
    case "mcpToolCall":
      return { ...item, status: callStatus, ...mcpResult(outcome) };
    case "collabAgentToolCall": {
      const agents = detail.kind === "agents" ? detail.agents : {};
      const receiverThreadIds = detail.kind === "agents" ? Object.keys(agents) : item.receiverThreadIds;
      return { ...item, status: callStatus, receiverThreadIds, agentsStates: statesOf(agents) };
    }
    default:
      return item;
  }
}

/** The input of the user. An image from a file is named, not repeated. */
export const contentOf = (parts: Part[]): UserInput[] =>
  parts.map((part): UserInput => {
    if (part.type === "text") return { type: "text", text: part.text, text_elements: [] };
    const detail = part.detail ? { detail: part.detail } : {};
    if (part.name !== undefined) return { type: "localImage", path: part.name, ...detail };
    return { type: "image", url: part.url, ...detail };
  });

const command = (
  id: string,
  args: Record<string, unknown>,
  thread: ThreadLocation,
): ThreadItemOf<"commandExecution"> => ({
  id,
  type: "commandExecution",
  ...shownCommand(args, thread),
  source: "agent",
  status: "inProgress",
  // Another shell than the user's decides what the command means.
  commandActions: [
    {
      type: "unknown",
      command: args.shell === undefined ? String(args.cmd ?? "") : shownCommand(args, thread).command,
    },
  ],
});

/** The command line as a user would type it, and its directory. */
export function shownCommand(
  args: unknown,
  thread: Pick<ThreadLocation, "cwd" | "shell">,
): { command: string; cwd: string } {
  const { cmd = "", shell = thread.shell, login = true, workdir } = fields(args);
  return {
    command: shellJoin([String(shell), login === false ? "-c" : "-lc", String(cmd)]),
    cwd: within(thread.cwd, workdir),
  };
}

const within = (cwd: string, workdir: unknown): string => {
  if (typeof workdir !== "string" || workdir === "" || workdir === ".") return cwd;
  return workdir.startsWith("/") ? workdir : `${cwd}/${workdir}`;
};

function changesOf(name: string, args: unknown): FileUpdateChange[] {
  return proposedEdits(name, args).map((edit): FileUpdateChange => {
    const { path, kind } = edit;
    if (kind !== "update") return { path, kind: { type: kind }, diff: unifiedDiffOf(edit) };
    return { path, kind: { type: "update", move_path: edit.moveTo ?? null }, diff: unifiedDiffOf(edit) };
  });
}

function mcpResult(outcome: Outcome): Partial<ThreadItemOf<"mcpToolCall">> {
  const { detail, reason } = outcome;
  if (detail.kind !== "mcp") return { result: null, error: { message: reason ?? outcome.status } };
  const { result, error, durationMs } = detail;
  return {
    result: result && { content: result.content, structuredContent: result.structuredContent, _meta: result.meta },
    error: error === null ? null : { message: error },
    durationMs: Math.round(durationMs),
  };
}

const collaborationTools: Record<string, ThreadItemOf<"collabAgentToolCall">["tool"]> = {
  spawn_agent: "spawnAgent",
  send_input: "sendInput",
  wait_agent: "wait",
  close_agent: "closeAgent",
  resume_agent: "resumeAgent",
};

function collaboration(
  id: string,
  name: string,
  args: Record<string, unknown>,
  { threadId }: ThreadLocation,
): ThreadItem {
  const { target, targets, id: agent, message, model, reasoning_effort: effort } = args;
  const receivers = Array.isArray(targets) ? targets : [target ?? agent].filter((receiver) => receiver !== undefined);
  return {
    id,
    type: "collabAgentToolCall",
    tool: collaborationTools[name] ?? "spawnAgent",
    status: "inProgress",
    senderThreadId: threadId,
    receiverThreadIds: receivers.map(String),
    prompt: typeof message === "string" ? message : null,
    model: typeof model === "string" ? model : null,
    reasoningEffort: typeof effort === "string" ? effort : null,
    agentsStates: {},
  };
}

const wireStates: Record<AgentState["status"], CollabAgentState["status"]> = {
  pending_init: "pendingInit",
  running: "running",
  interrupted: "interrupted",
  completed: "completed",
  errored: "errored",
  shutdown: "shutdown",
  not_found: "notFound",
};

const statesOf = (agents: Record<string, AgentState>): Record<string, CollabAgentState> =>
  Object.fromEntries(
    Object.entries(agents).map(([id, { status, message }]) => [id, { status: wireStates[status], message }]),
  );

function argumentsOf(block: CallBlock): unknown {
  if (block.form === "freeform") return { input: block.input };
  try {
    return JSON.parse(block.input);
  } catch {
    return {};
  }
}

const fields = (args: unknown): Record<string, unknown> =>
  typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
