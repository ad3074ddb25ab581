// Which MCP tools may run, and which need the user's approval.

import type { Guard, Verdict } from "@agentcli/engine";
import type { ApprovalPolicy, McpOrigin, ToolApproval } from "@agentcli/protocol";
import type { Server, ServerTool } from "../connection/index.ts";
import { serverTools } from "./tools.ts";

/** Asks `next` only about calls that need no approval here. Declines a tool that its server no longer has. */
export const approvalGuard = (servers: Server[], next: Guard): Guard => ({
  async admit(call, settings) {
    if (!call.name.startsWith("mcp__")) return next.admit(call, settings);
    const origin = serverTools(servers).find((tool) => tool.name === call.name)?.mcp;
    const server = servers.find((candidate) => candidate.settings.name === origin?.server);
    const tool = server?.tools().find((candidate) => candidate.name === origin?.tool);
    if (!server || !tool) return { kind: "declined", reason: `${call.name} is no longer offered by its server` };
    return verdictOn(server, tool, settings.approval) ?? next.admit(call, settings);
  },
});

function verdictOn(server: Server, tool: ServerTool, policy: ApprovalPolicy): Verdict | null {
  const { name, approval } = server.settings;
  const kind = policy === "never" ? "declined" : "unapproved";
  // A server could be harmless until its tools are approved.
  if (server.hasChanged(tool)) return { kind, reason: changedReason({ server: name, tool: tool.name }) };
  const mode = approval.byTool[tool.name] ?? approval.default;
  return needsApproval(mode, tool) ? { kind, reason: `${reasons[policy]}. ${remedy(name, tool.name)}` } : null;
}

export const changedReason = ({ server, tool }: McpOrigin): string =>
  `the tool ${tool} of ${server} changed after it was approved; check it and start a new run`;

/** `auto` and `writes` trust the server's read-only hint. */
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

const remedy = (server: string, tool: string): string => {
  const table = `mcp_servers.${tomlKey(server)}`;
  return `The user can allow it in config.toml: ${table}.tools.${tomlKey(tool)}.approval_mode = "approve", or ${table}.default_tools_approval_mode = "approve" for all tools of the server`;
};

const tomlKey = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

const reasons: Record<ApprovalPolicy, string> = {
  never: "MCP tool call requires approval, but approval policy is never",
  "on-request": "MCP tool call requires approval, and no user is present to give it",
};
