// What every command is given: where it runs and how it speaks.
import type { Log } from "./telemetry/index.ts";

export interface Program {
  variables: NodeJS.ProcessEnv;
  userHome: string;
  cwd: string;
  /** Where the built program and the programs beside it are. */
  directory: string;
  /** Writes to standard output: what a command was asked for, and nothing else. */
  print(text: string): void;
  /** Structured lines on standard error. */
  log: Log;
  /** Aborted when the program is told to stop. */
  signal: AbortSignal;
}
