// Errors about keys and their owners that the caller can fix.

import type { ExitName } from "@agentcli/protocol/exit-codes";
import { unprintable, unprintableProblem } from "@agentcli/protocol/names";

/** Commands and pages show it in lists. */
export function checkName(name: string): void {
  if (unprintable.test(name))
    throw new PrincipalError(`The name ${JSON.stringify(name)} ${unprintableProblem}. Choose one without.`);
}

export class PrincipalError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  override name = "PrincipalError";
}
