export type { Command, CommandDescription, Flag, Invocation, Syntax } from "./command.ts";
export { CommandError, exitNameOf } from "./error.ts";
export {
  emptyOutputFile,
  type OutputFile,
  type OutputPaths,
  refuseLinkOfAgent,
  writeOutputFile,
} from "./output-file.ts";
export { type CommandLine, incompleteCommand, parseCommandLine } from "./parse.ts";
export { foreignTextFor, terminalText, textFor, withoutColours } from "./terminal-text.ts";
