// The program that a command of the worker runs in.
import type { WorkerEnvironment } from "./options.ts";

/** The program around the worker. */
export interface WorkerProgram {
  /** Where the built programs are. */
  directory: string;
  version: string;
  /** One line, for people. */
  log(line: string): void;
  signal: AbortSignal;
}

export interface RunProgram extends WorkerProgram {
  environment: WorkerEnvironment;
  /** To standard output. */
  print(text: string): void;
}
