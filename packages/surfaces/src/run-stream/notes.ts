// Warnings about repositories and models, blocked connections, hooks that ran and MCP servers that did not start, as calls: the
// stream has no other event that readers would show.
import type { Json } from "@agentcli/engine";
import type { NoteData, Noted } from "@agentcli/protocol";
import type { HookRunNote } from "../items.ts";
import { type FrameGroup, update } from "./frames.ts";

export function showNote(seq: number, { kind, data }: Noted): FrameGroup[] {
  if (kind === "mcp") return showServer(data);
  if (kind === "hook") return "status" in data && data.status !== "skipped" ? [showHook(seq, data)] : [];
  if (kind === "policy" && "message" in data) return [showBlocked(seq, data)];
  return kind === "warning" && data.about !== undefined ? [showWarning(seq, data.message)] : [];
}

/** Not part of the conversation, so there is no update of it. */
const showWarning = (seq: number, message: string, args?: Json): FrameGroup => [
  {
    event: "tool_call",
    data: {
      callId: `warning:${seq}`,
      name: "warning",
      status: "error",
      ...(args && { args }),
      result: { error: { message } },
    },
  },
];

type Blocked = Extract<NoteData<"policy">, { message: string }>;

const showBlocked = (seq: number, { message, host, port }: Blocked): FrameGroup =>
  showWarning(seq, message, { host, port });

function showHook(seq: number, { event, key, status, reason, durationMs, agentId }: HookRunNote): FrameGroup {
  const args = { event, hook: key, outcome: status, durationMs, ...(agentId !== undefined && { subagentId: agentId }) };
  const data = { callId: `hook:${seq}`, name: "hook", args };
  if (status === "completed") return [{ event: "tool_call", data: { ...data, status, result: { success: {} } } }];
  return [{ event: "tool_call", data: { ...data, status: "error", result: { error: { message: reason } } } }];
}

function showServer({ name, status, reason }: NoteData<"mcp">): FrameGroup[] {
  if (status === "ready") return [];
  const message = `MCP server ${name} is not available (${status}): ${reason ?? "no reason given"}`;
  const ids = { callId: `mcp-server:${name}`, modelCallId: `mcp-server:${name}` };
  const args = { providerIdentifier: name };
  return [
    [
      {
        event: "tool_call",
        data: { callId: ids.callId, name: "mcp", status: "error", args, result: { error: { message } } },
      },
      update({
        type: "tool-call-completed",
        ...ids,
        toolCall: { type: "mcp", args, result: { status: "error", error: { message } } },
      }),
    ],
  ];
}
