// The command line of the program platform as one value: its commands and its flags.
import type { Syntax } from "@agentcli/command-line";
import type { Command } from "./command.ts";
import { flags } from "./flags.ts";
import { commands } from "./index.ts";

export const syntax: Syntax<Command> = {
  program: "platform",
  commands,
  flags,
  rejectEmptyValues: true,
};
