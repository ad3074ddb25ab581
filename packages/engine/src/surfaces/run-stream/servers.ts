// A server that did not come up, as a call that went wrong: the vocabulary of streams has no other word readers would show.
import type { RecordOf } from "@agentcli/protocol";
import { type FrameGroup, update } from "./frames.ts";

export function showServer({ name, status, reason }: RecordOf<"noted">["data"]): FrameGroup[] {
  if (status === "ready" || typeof name !== "string") return [];
  const message = `MCP server ${name} is not there (${status}): ${reason ?? "no reason given"}`;
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
