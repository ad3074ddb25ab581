// A setting that cannot be used, with its name and its origin.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class SettingError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  override name = "SettingError";
}
