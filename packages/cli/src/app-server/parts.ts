// The parts the app server is composed of. Each opens with the host and closes with the server.
import { openAccounts } from "./accounts.ts";
import { openCommands } from "./commands.ts";
import { openConfiguration } from "./configuration.ts";
import { openFileSearch } from "./file-search.ts";
import { openFiles } from "./files.ts";
import { openMcpServers } from "./mcp-servers.ts";
import type { OpenPart } from "./method.ts";
import { openModels } from "./models.ts";
import { openSkillsAndHooks } from "./skills-and-hooks.ts";
import { openThreads } from "./threads/index.ts";

/** MCP servers are asked where a loaded thread has them. */
const openThreadsWithServers: OpenPart = (host) => {
  const threads = openThreads(host);
  const servers = openMcpServers(threads.servers)(host);
  return {
    methods: { ...threads.methods, ...servers.methods },
    close: async () => void (await Promise.all([servers.close(), threads.close()])),
  };
};

export const parts: OpenPart[] = [
  openThreadsWithServers,
  openModels,
  openSkillsAndHooks,
  openAccounts,
  openConfiguration,
  openFiles,
  openFileSearch,
  openCommands,
];
