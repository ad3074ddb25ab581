// The command line of agentcli as one value: its commands, its flags and hints for mistakes.
import type { Syntax } from "@agentcli/command-line";
import type { Command } from "./command.ts";
import { commands, terminalCommand } from "./commands/index.ts";
import { flags } from "./flags.ts";

/** Words alone open the interactive interface, on a terminal. */
export const syntaxFor = (variables: NodeJS.ProcessEnv): Syntax<Command> => ({
  ...syntax,
  unnamed: () => terminalCommand(variables),
});

export const syntax: Syntax<Command> = {
  program: "agentcli",
  commands,
  flags,
  hints: {
    unknownCommand: (words) => `To run a prompt: agentcli exec "${words.join(" ")}".`,
    extraArgument: 'Quote a prompt of several words: agentcli exec "fix the test".',
  },
};
