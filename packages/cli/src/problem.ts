// Trouble the user can mend, with the exit code it ends the program with.
import { type ExitName, exitCodes } from "@agentcli/protocol/exit-codes";

export class Problem extends Error {
  override name = "Problem";
  readonly exitCode: number;

  constructor(exit: ExitName, message: string) {
    super(message);
    this.exitCode = exitCodes[exit].code;
  }
}
