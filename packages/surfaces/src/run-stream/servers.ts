// An MCP server that did not start, as a failed call: the stream has no other event that readers would show.
import type { NoteData } from "@agentcli/protocol";
import { type FrameGroup, update } from "./frames.ts";

export function showServer({ name, status, reason }: NoteData<"mcp">): FrameGroup[] {
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
