// The command line of the program `agent` as one value: its commands and flags.
import type { Syntax } from "@agentcli/command-line";
import { controllerCommand, debugCommand, startCommand, workerFlags } from "./commands.ts";

export const syntax: Syntax = {
  program: "agent",
  commands: [startCommand, debugCommand, controllerCommand],
  flags: {
    ...workerFlags,
    help: { short: "h", help: "Show help" },
    version: { short: "V", help: "Show the version" },
  },
};
