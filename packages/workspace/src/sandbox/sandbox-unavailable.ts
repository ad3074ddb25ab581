// The requested sandbox is unavailable. Nothing runs without it.
import type { ExitName } from "@agentcli/protocol/exit-codes";

export class SandboxUnavailable extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "sandbox";
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} ${remedy}`);
    this.name = "SandboxUnavailable";
    this.reason = reason;
    this.remedy = remedy;
  }
}
