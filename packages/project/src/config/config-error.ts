// An invalid configuration; the message says where and how to fix it.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class ConfigError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  override name = "ConfigError";
}
