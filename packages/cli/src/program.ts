// What every command is given: where it runs and how it speaks.
import type { Syntax } from "@agentcli/command-line";
import type { Scrub } from "@agentcli/engine";
import type { Environment, Reporter } from "@agentcli/host";

export interface Program {
  environment: Environment;
  reporter: Reporter;
  /** Writes to standard output: what a command was asked for, and nothing else. On a terminal without the colours of what it quotes. */
  print(text: string | Buffer, colours?: "own"): Promise<void>;
  /** Every command and flag, for the command that writes completion scripts. */
  syntax(): Promise<Syntax>;
  version: string;
  /** Takes known secrets out of a text; everything that is stored or shown goes through it. */
  scrub: Scrub;
  /** Where the built program and the programs beside it are. */
  directory: string;
  /** Aborted with a StopReason when the program receives a signal to stop. */
  signal: AbortSignal;
}
