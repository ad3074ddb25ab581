// What every command receives: its environment, its output and its log.
import type { Log } from "../foundation/telemetry/index.ts";

export interface Program {
  variables: NodeJS.ProcessEnv;
  userHome: string;
  cwd: string;
  /** Where the built program and the programs beside it are. */
  directory: string;
  /** Everything on standard input. Throws CommandError if that is a terminal: what is typed there would be shown. */
  readInput(): Promise<string>;
  /** Writes to standard output: the result of the command, and nothing else. */
  print(text: string): void;
  /** Structured lines on standard error. */
  log: Log;
  /** Aborted when the program receives a signal to stop. */
  signal: AbortSignal;
}
