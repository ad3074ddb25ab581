// Errors about a backup that the operator can fix.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class BackupError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "failed";
  override name = "BackupError";
}
