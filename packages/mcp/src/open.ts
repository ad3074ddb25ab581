// All MCP servers of a run: started together, reported once, closed together.

import type { Guard, Tool } from "@agentcli/engine";
import { openServer, type ServerReport } from "./connection/index.ts";
import type { McpHost } from "./host.ts";
import type { ServerSettings } from "./settings.ts";
import {
  approvalGuard,
  type DirectAccess,
  directAccess,
  promptTools,
  resourceTools,
  serverTools,
} from "./tools/index.ts";

export interface McpServers {
  /** Settles when each server is ready, has failed or has timed out. */
  started(): Promise<ServerReport[]>;
  /** The tools servers offer now. Read at the start of a turn, so late and changed tools join there. */
  tools(): Tool[];
  /** Declines calls that need approval; `next` decides about the rest. */
  guard(next: Guard): Guard;
  /** For clients: without the model and its guard. */
  direct: DirectAccess;
  /** Ends every connection and process. */
  close(): Promise<void>;
}

export function openMcpServers(settings: ServerSettings[], host: McpHost): McpServers {
  const ordered = [...settings].sort((left, right) => (left.name < right.name ? -1 : 1));
  const servers = ordered.map((each) => openServer(each, host));
  return {
    started: () => Promise.all(servers.map((server) => server.started)),
    tools: () =>
      servers.length === 0 ? [] : [...serverTools(servers), ...resourceTools(servers), ...promptTools(servers)],
    guard: (next) => approvalGuard(servers, next),
    direct: directAccess(servers),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}
