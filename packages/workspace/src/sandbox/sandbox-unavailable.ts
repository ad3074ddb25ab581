// The requested sandbox is unavailable. Nothing runs without it.
import type { ExitName } from "@agentcli/protocol/exit-codes";
import { explainOutput } from "@agentcli/protocol/system-errors";

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

/** If a sandbox reached a limit of the system while it started, going by what it printed. */
export function explainStartLimit(stderr: string): SandboxUnavailable | undefined {
  const [reason, ...remedy] = explainOutput(stderr)?.split(/(?<=\.) /) ?? [];
  if (reason === undefined) return undefined;
  return new SandboxUnavailable(`The sandbox could not start. ${reason}`, remedy.join(" "));
}
