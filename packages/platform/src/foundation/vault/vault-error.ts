// An error with encryption keys that the operator can fix.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class VaultError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "failed";
  override name = "VaultError";
}
