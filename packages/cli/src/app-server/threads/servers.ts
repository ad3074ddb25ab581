// The MCP servers of loaded threads, for clients that ask them past the model.
import type { ThreadServers } from "../mcp-reach.ts";
import type { ThreadTable } from "./table.ts";

export const threadServers = (table: ThreadTable): ThreadServers => ({
  of(threadId) {
    const thread = table.find(threadId);
    return thread?.kind === "own" ? (thread.run().mcp?.servers.direct ?? null) : null;
  },
  reload() {
    for (const id of table.loaded()) {
      const thread = table.find(id);
      if (thread?.kind === "own") thread.renew();
    }
  },
});
