// The command line of the program platform as one value: its commands, its flags and the texts around them.
import type { Syntax } from "@agentcli/command-line";
import type { Command } from "./command.ts";
import { flags } from "./flags.ts";
import { commands } from "./index.ts";

export const syntax: Syntax<Command> = {
  program: "platform",
  commands,
  flags,
  rejectEmptyValues: true,
  overview: {
    summary: "runs coding agents as a service",
    first: [
      "serve",
      "migrate",
      "keys",
      "repos",
      "users",
      "invitations",
      "teams",
      "backup",
      "restore",
      "rotate-kek",
      "audit",
      "login-link",
      "signing-key",
    ],
    flags: ["data", "config", "help", "version"],
    footer:
      "Every setting can also come from the environment or config.toml; platform doctor shows the effective values.",
  },
};
