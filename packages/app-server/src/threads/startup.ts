// Notifies clients of the startup of a thread's MCP servers.
import type { Run } from "@agentcli/host";
import type { Notice } from "@agentcli/surfaces/app-server";

export function announceServers({ servers }: Run, threadId: string, notify: (notices: Notice[]) => void): void {
  if (!servers) return;
  notify(servers.names.map((name) => statusNotice({ threadId, name, status: "starting" })));
  // The startup results are also written into the thread with its next turn, failures included.
  void servers
    .started()
    .then((reports) =>
      notify(
        reports.map(({ name, status, reason }) =>
          statusNotice({ threadId, name, status: status === "late" ? "starting" : status, error: reason }),
        ),
      ),
    );
}

type Status = Extract<Notice, { method: "mcpServer/startupStatus/updated" }>["params"];

const statusNotice = (params: Status): Notice => ({ method: "mcpServer/startupStatus/updated", params });
