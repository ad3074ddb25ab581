// The parts the app server is composed of. Each opens with the host and closes with the server.
import { openAccounts } from "./accounts.ts";
import { openCommands } from "./commands.ts";
import { openConfiguration } from "./configuration.ts";
import { openFiles } from "./files.ts";
import type { OpenPart } from "./method.ts";
import { openThreads } from "./threads/index.ts";

export const parts: OpenPart[] = [openThreads, openAccounts, openConfiguration, openFiles, openCommands];
