// Reads the command line. A run is started by the hundred: it is read without the other commands and their flags.
import { CommandError, type CommandLine, parseCommandLine } from "@agentcli/command-line";
import type { Command } from "./command.ts";
import { execCommands } from "./commands/index.ts";
import { flagsOfRuns } from "./run-flags.ts";

const firstWords = new Set(execCommands.flatMap(({ path, aliases = [] }) => [path, ...aliases].map(([word]) => word)));

export async function readCommandLine(argv: string[], variables: NodeJS.ProcessEnv): Promise<CommandLine<Command>> {
  const run = firstWords.has(argv[0]) ? readRun(argv) : null;
  if (run) return run;
  const { syntaxFor } = await import("./syntax.ts");
  return parseCommandLine(argv, syntaxFor(variables));
}

/** Null for a call for help and for a mistake: what they say depends on all commands. */
function readRun(argv: string[]): CommandLine<Command> | null {
  try {
    const line = parseCommandLine(argv, { program: "agentcli", commands: execCommands, flags: flagsOfRuns });
    return line.kind === "command" ? line : null;
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}
