// The MCP servers of loaded threads, for clients that use them without the model.
import type { ThreadServers } from "../methods/mcp-access.ts";
import type { ThreadTable } from "./table.ts";

export const threadServers = (table: ThreadTable): ThreadServers => ({
  of(threadId) {
    const thread = table.find(threadId);
    return thread?.kind === "own" ? (thread.run().servers?.direct ?? null) : null;
  },
  reload() {
    for (const id of table.loaded()) {
      const thread = table.find(id);
      if (thread?.kind === "own") thread.renew();
    }
  },
});
