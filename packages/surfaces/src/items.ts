// Calls of the log as items of the event stream.

import type { Json } from "@agentcli/engine";
import { agentToolNames, isEditTool, proposedEdits } from "@agentcli/engine";
import type {
  CallBlock,
  Detail,
  ItemOf,
  McpOrigin,
  NoteData,
  Outcome,
  ThreadItem,
  WebSearchAction,
} from "@agentcli/protocol";
import { shellJoin } from "./shell-join.ts";

export type CommandItem = ItemOf<"command_execution">;
type Unnumbered<Item> = Item extends ThreadItem ? Omit<Item, "id"> : never;
export type NewItem = Unnumbered<ThreadItem>;

/** The thread of the stream. */
export interface Shown {
  shell: string;
  threadId: string;
}

/** Calls of tools that only read are items of this server: every client of these events knows the form. */
export const builtInServer = "agentcli";
const readingTools = new Set(["read_file", "list_dir", "grep_files", "glob"]);

export const isReading = ({ server, tool }: McpOrigin): boolean => server === builtInServer && readingTools.has(tool);

/** The item of a call that begins; null for calls that are not shown. */
export function beginItem(
  { name, args, mcp }: { name: string; args: unknown; mcp?: McpOrigin },
  { shell, threadId }: Shown,
): NewItem | null {
  if (mcp) return mcpCall({ ...mcp, arguments: args as Json });
  if (name === "exec_command") return command(args, shell);
  if (isEditTool(name)) return fileChange(name, args);
  if (readingTools.has(name)) return mcpCall({ server: builtInServer, tool: name, arguments: args as Json });
  const web = webActionOf(name, args);
  if (web) return webSearchItem(web);
  return agentToolNames.includes(name) ? collaboration(name, args, threadId) : null;
}

/** What a web tool of our own does, in the words of the wire; null for other tools. */
export function webActionOf(name: string, args: unknown): WebSearchAction | null {
  const { query, url } = fields(args);
  if (name === "web_search") return { type: "search", query: String(query ?? "") };
  return name === "web_fetch" ? { type: "open_page", url: String(url ?? "") } : null;
}

export const webSearchItem = (action: WebSearchAction): Unnumbered<ItemOf<"web_search">> => ({
  type: "web_search",
  query: webQuery(action),
  action,
});

/** One line for people. */
export function webQuery(action: WebSearchAction): string {
  switch (action.type) {
    case "search":
      return action.query ?? action.queries?.join(", ") ?? "";
    case "open_page":
      return action.url ?? "";
    case "find_in_page":
      return `${action.pattern ?? ""} in ${action.url ?? "the page"}`;
    case "other":
      return "";
  }
}

/** The item of a refused or invalid call, from the text of the model. */
export function refusedItem(block: CallBlock, { detail }: Outcome, shown: Shown): NewItem | null {
  if (detail.kind === "mcp") return mcpCall(detail);
  return beginItem({ name: block.name, args: argumentsOf(block) }, shown);
}

export function settledStatus(outcome: Outcome): "completed" | "failed" | "declined" {
  return outcome.status === "interrupted" ? "failed" : outcome.status;
}

const mcpCall = (
  call: Pick<Extract<Detail, { kind: "mcp" }>, "server" | "tool" | "arguments">,
): Unnumbered<ItemOf<"mcp_tool_call">> => ({
  type: "mcp_tool_call",
  server: call.server,
  tool: call.tool,
  arguments: call.arguments,
  result: null,
  error: null,
  status: "in_progress",
});

/** The end of a call to an MCP server; an interrupted one has only its reason. */
export function endMcpCall(item: ItemOf<"mcp_tool_call">, outcome: Outcome): ThreadItem {
  const { detail, reason } = outcome;
  const ended = { ...item, status: settledStatus(outcome), reason };
  if (detail.kind !== "mcp" && isReading(item)) return { ...ended, ...readResult(outcome) };
  if (detail.kind !== "mcp") return { ...ended, error: { message: reason ?? outcome.status } };
  const { result, error } = detail;
  return {
    ...ended,
    result: result && { content: result.content, _meta: result.meta, structured_content: result.structuredContent },
    error: error === null ? null : { message: error },
  };
}

/** What the model was given. */
function readResult({ status, reason, parts }: Outcome): Pick<ItemOf<"mcp_tool_call">, "result" | "error"> {
  const content = parts.flatMap((part) => (part.type === "text" ? [{ type: "text", text: part.text }] : []));
  if (status === "completed") return { result: { content, structured_content: null }, error: null };
  return { result: null, error: { message: reason ?? content.map(({ text }) => text).join("\n") } };
}

export type HookRunNote = Extract<NoteData<"hook">, { status: unknown }>;

export const hookItem = ({ event, source, key, status, reason, durationMs, agentId }: HookRunNote): NewItem => ({
  type: "hook",
  event,
  source,
  key,
  status,
  reason,
  duration_ms: durationMs,
  agent_id: agentId,
});

function command(args: unknown, defaultShell: string): NewItem {
  const { cmd = "", shell = defaultShell, login = true } = fields(args);
  return {
    type: "command_execution",
    command: shellJoin([String(shell), login === false ? "-c" : "-lc", String(cmd)]),
    aggregated_output: "",
    exit_code: null,
    status: "in_progress",
  };
}

function fileChange(name: string, args: unknown): NewItem {
  const changes = proposedEdits(name, args).map(({ path, kind }) => ({ path, kind }));
  return { type: "file_change", changes, status: "in_progress" };
}

function collaboration(name: string, args: unknown, threadId: string): NewItem {
  const { target, targets, id, message } = fields(args);
  const receivers = Array.isArray(targets) ? targets : [target ?? id].filter((receiver) => receiver !== undefined);
  return {
    type: "collab_tool_call",
    tool: (name === "wait_agent" ? "wait" : name) as ItemOf<"collab_tool_call">["tool"],
    sender_thread_id: threadId,
    receiver_thread_ids: receivers.map(String),
    prompt: typeof message === "string" ? message : null,
    agents_states: {},
    status: "in_progress",
  };
}

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
