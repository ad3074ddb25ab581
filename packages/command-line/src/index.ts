export type { Command, CommandDescription, Flag, Invocation, Syntax } from "./command.ts";
export { CommandError, exitNameOf } from "./error.ts";
export { type CommandLine, incompleteCommand, parseCommandLine } from "./parse.ts";
export { foreignTextFor, terminalText, textFor, withoutColours } from "./terminal-text.ts";
