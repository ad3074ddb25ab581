// Every command of the program, one line for each noun.
import type { Command } from "../command.ts";
import { aboutCommands } from "./about/index.ts";
import { appServerCommands } from "./app-server/index.ts";
import { cacheCommands } from "./cache/index.ts";
import { cloudCommands } from "./cloud/index.ts";
import { configCommands } from "./config/index.ts";
import { envCommands } from "./env/index.ts";
import { execCommands } from "./exec/index.ts";
import { hooksCommands } from "./hooks/index.ts";
import { importCommands } from "./import/index.ts";
import { loginCommands } from "./login/index.ts";
import { mcpCommands } from "./mcp/index.ts";
import { modelsCommands } from "./models/index.ts";
import { replayCommands } from "./replay/index.ts";
import { responsesProxyCommands } from "./responses-proxy/index.ts";
import { sandboxCommands } from "./sandbox/index.ts";
import { sanitizeCommands } from "./sanitize/index.ts";
import { sessionsCommands } from "./sessions/index.ts";
import { skillsCommands } from "./skills/index.ts";
import { testCommands } from "./test/index.ts";
import { terminalCommands } from "./tui/index.ts";
import { workerCommands } from "./worker/index.ts";

export { execCommands } from "./exec/index.ts";
export { terminalCommand } from "./tui/index.ts";

export const commands: Command[] = [
  ...aboutCommands,
  ...appServerCommands,
  ...cacheCommands,
  ...cloudCommands,
  ...configCommands,
  ...envCommands,
  ...hooksCommands,
  ...importCommands,
  ...loginCommands,
  ...modelsCommands,
  ...sessionsCommands,
  ...replayCommands,
  ...testCommands,
  ...execCommands,
  ...sandboxCommands,
  ...skillsCommands,
  ...sanitizeCommands,
  ...mcpCommands,
  ...terminalCommands,
  ...responsesProxyCommands,
  ...workerCommands,
];
