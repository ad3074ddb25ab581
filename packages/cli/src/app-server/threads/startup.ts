// Tells clients how the MCP servers of a thread come up.
import type { Notice } from "@agentcli/engine/app-server";
import type { Run } from "../../run.ts";

export function announceServers({ mcp }: Run, threadId: string, tell: (notices: Notice[]) => void): void {
  if (!mcp) return;
  tell(mcp.names.map((name) => statusNotice({ threadId, name, status: "starting" })));
  // How the servers came up is also written into the thread with its next turn, failures included.
  void mcp.servers
    .started()
    .then((reports) =>
      tell(
        reports.map(({ name, status, reason }) =>
          statusNotice({ threadId, name, status: status === "late" ? "starting" : status, error: reason }),
        ),
      ),
    );
}

type Status = Extract<Notice, { method: "mcpServer/startupStatus/updated" }>["params"];

const statusNotice = (params: Status): Notice => ({ method: "mcpServer/startupStatus/updated", params });
