// Threads and turns of the app server.
import type { Host, Part } from "../method.ts";
import type { ThreadServers } from "../methods/mcp-access.ts";
import { refusingAll } from "../refusing.ts";
import { listMethods } from "./list-methods.ts";
import { reviewMethods } from "./review-methods.ts";
import { threadServers } from "./servers.ts";
import { openTable } from "./table.ts";
import { threadMethods } from "./thread-methods.ts";
import { turnMethods } from "./turn-methods.ts";

/** With the MCP servers its threads have. */
export function openThreads(host: Host): Part & { servers: ThreadServers } {
  const { program, agent } = host;
  const table = openTable(host);
  const methods = {
    ...threadMethods(table, program),
    ...listMethods(table, host),
    ...turnMethods(table, agent.input),
    ...reviewMethods(table, agent.input),
  };
  return { methods: refusingAll(methods, program.scrub), servers: threadServers(table), close: table.close };
}
