// Errors about keys and their owners that the caller can fix.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class PrincipalError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  override name = "PrincipalError";
}
