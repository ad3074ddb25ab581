// All configured servers of a run: started together, reported once, closed together.
import type { Guard, Tool } from "@agentcli/engine";
import { approvalGuard } from "./approval.ts";
import { type DirectAccess, directAccess } from "./direct.ts";
import type { McpHost } from "./host.ts";
import { promptTools } from "./prompt-tools.ts";
import { resourceTools } from "./resource-tools.ts";
import { openServer, type ServerReport } from "./server.ts";
import type { ServerSettings } from "./settings.ts";
import { serverTools } from "./tools.ts";

export interface McpServers {
  /** Settles when each server is ready, has failed or has used up its time to start. */
  started(): Promise<ServerReport[]>;
  /** What servers offer now. Asked for at the beginning of a turn: that is when late and changed tools join. */
  tools(): Tool[];
  /** Declines calls that need an approval, and leaves the rest to `next`. */
  guard(next: Guard): Guard;
  /** For a person's own program, past the model and its guard. */
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
