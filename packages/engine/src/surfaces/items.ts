// Calls of the log as items of the event stream.
import type { CallBlock, ItemOf, Outcome, ThreadItem } from "@agentcli/protocol";
import { parsePatch } from "../patch/parse.ts";
import { agentToolNames } from "../subagents/names.ts";
import { shellJoin } from "./shell-join.ts";

export type CommandItem = ItemOf<"command_execution">;
type Unnumbered<Item> = Item extends ThreadItem ? Omit<Item, "id"> : never;
export type NewItem = Unnumbered<ThreadItem>;

/** What the stream knows of its thread. */
export interface Shown {
  shell: string;
  threadId: string;
}

/** A call as it is when it begins; null for calls that only look at things, which are not shown. */
export function beginItem(name: string, args: unknown, { shell, threadId }: Shown): NewItem | null {
  if (name === "exec_command") return command(args, shell);
  if (name === "apply_patch") return patch(args);
  return agentToolNames.includes(name) ? collaboration(name, args, threadId) : null;
}

/** What a refused or misunderstood call would have been, read from what the model wrote. */
export function refusedItem(block: CallBlock, shown: Shown): NewItem | null {
  return beginItem(block.name, argumentsOf(block), shown);
}

export function settledStatus(outcome: Outcome): "completed" | "failed" | "declined" {
  return outcome.status === "interrupted" ? "failed" : outcome.status;
}

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

function patch(args: unknown): NewItem {
  const parsed = parsePatch(String(fields(args).input ?? ""));
  const changes = parsed.kind === "patch" ? parsed.edits.map(({ path, kind }) => ({ path, kind })) : [];
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
