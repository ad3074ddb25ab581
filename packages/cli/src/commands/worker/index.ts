// The worker: lets agents of a platform work on this machine.
import { workerCommand } from "@agentcli/worker/commands";
import type { Command } from "../../command.ts";

export const workerCommands: Command[] = [{ ...workerCommand, load: () => import("./start.ts") }];
