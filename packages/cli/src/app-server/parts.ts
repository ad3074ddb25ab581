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

export const parts: OpenPart[] = [
  openThreads,
  openModels,
  openSkillsAndHooks,
  openAccounts,
  openConfiguration,
  openMcpServers({ of: () => null, reload: async () => {} }),
  openFiles,
  openFileSearch,
  openCommands,
];
