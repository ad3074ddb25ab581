// The command line of agentcli as one value: its commands, its flags and the texts around them.
import type { Syntax } from "@agentcli/command-line";
import type { Command } from "./command.ts";
import { commands } from "./commands/index.ts";
import { flags } from "./flags.ts";

export const syntax: Syntax<Command> = {
  program: "agentcli",
  commands,
  flags,
  overview: {
    summary: "a coding agent that works unattended",
    first: ["exec", "review", "sessions", "cost", "login", "logout", "config", "trust", "doctor", "sandbox"],
    flags: ["help", "version"],
    footer: `Try it without a key or a network:
  agentcli exec --model practice --sandbox workspace-write "create hello.txt containing Hello"`,
  },
  hints: {
    unknownCommand: (words) => `To run a prompt: agentcli exec "${words.join(" ")}".`,
    extraArgument: 'Quote a prompt of several words: agentcli exec "fix the test".',
  },
};
