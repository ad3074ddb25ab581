// The parts the app server is composed of. Each opens with the host and closes with the server.
import type { OpenPart } from "./method.ts";
import { openAccounts } from "./methods/accounts.ts";
import { openCommands } from "./methods/commands.ts";
import { openConfiguration } from "./methods/configuration.ts";
import { openFileSearch } from "./methods/file-search.ts";
import { openFiles } from "./methods/files.ts";
import { openMcpServers } from "./methods/mcp-servers.ts";
import { openModels } from "./methods/models.ts";
import { openSkillsAndHooks } from "./methods/skills-and-hooks.ts";
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
