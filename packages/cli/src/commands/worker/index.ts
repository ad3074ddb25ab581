// The worker: lets agents of a platform work on this machine.
import { controllerCommand, debugCommand, startCommand } from "@agentcli/worker/commands";
import type { Command } from "../../command.ts";

export const workerCommands: Command[] = [
  { ...startCommand, load: () => import("./start.ts") },
  { ...debugCommand, load: () => import("./debug.ts") },
  { ...controllerCommand, load: () => import("./controller.ts") },
];
