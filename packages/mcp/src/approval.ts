// Which tools of servers may run, and which need a person's consent.
import type { Guard, Verdict } from "@agentcli/engine";
import type { ApprovalPolicy, ToolApproval } from "@agentcli/protocol";
import type { ServerTool } from "./readers.ts";
import type { Server } from "./server.ts";
import { serverTools } from "./tools.ts";

/** Asks `next` only about calls that need no approval here. A tool of a server that is not known any more is declined. */
export const approvalGuard = (servers: Server[], next: Guard): Guard => ({
  async admit(call, settings) {
    if (!call.name.startsWith("mcp__")) return next.admit(call, settings);
    const origin = serverTools(servers).find((tool) => tool.name === call.name)?.mcp;
    const server = servers.find((candidate) => candidate.settings.name === origin?.server);
    const tool = server?.tools().find((candidate) => candidate.name === origin?.tool);
    if (!server || !tool) return { kind: "declined", reason: `${call.name} is no longer offered by its server` };
    return judge(server, tool, settings.approval) ?? next.admit(call, settings);
  },
});

function judge({ settings }: Server, tool: ServerTool, policy: ApprovalPolicy): Verdict | null {
  const mode = settings.approval.byTool[tool.name] ?? settings.approval.usual;
  if (!needsApproval(mode, tool)) return null;
  return { kind: policy === "never" ? "declined" : "unapproved", reason: reasons[policy] };
}

/** `auto` and `writes` believe a server that marks a tool as read-only. */
export function needsApproval(mode: ToolApproval, tool: Pick<ServerTool, "readOnly">): boolean {
  switch (mode) {
    case "approve":
      return false;
    case "prompt":
      return true;
    case "auto":
    case "writes":
      return !tool.readOnly;
  }
}

const reasons: Record<ApprovalPolicy, string> = {
  never: "MCP tool call requires approval, but approval policy is never",
  "on-request": "MCP tool call requires approval, and nobody is here to give it",
};
