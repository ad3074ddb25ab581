// Warnings about repositories and models, blocked connections and MCP servers that did not start, as failed calls: the stream has no
// other event that readers would show.
import type { NoteData, Noted } from "@agentcli/protocol";
import { type FrameGroup, update } from "./frames.ts";

export function showNote(seq: number, { kind, data }: Noted): FrameGroup[] {
  if (kind === "mcp") return showServer(data);
  if (kind === "policy" && "message" in data) return [showWarning(seq, data.message)];
  return kind === "warning" && data.about !== undefined ? [showWarning(seq, data.message)] : [];
}

/** Not part of the conversation, so there is no update of it. */
const showWarning = (seq: number, message: string): FrameGroup => [
  {
    event: "tool_call",
    data: { callId: `warning:${seq}`, name: "warning", status: "error", result: { error: { message } } },
  },
];

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
