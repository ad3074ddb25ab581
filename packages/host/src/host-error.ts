// An error the user can fix before running again: a session, a setting, a server that cannot be used.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class HostError extends Error {
  override name = "HostError";
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string) {
    super(message);
    this.exit = exit;
  }
}
