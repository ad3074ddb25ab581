// Limits of the system that keep a sandbox from starting.
import { explainOutput } from "@agentcli/protocol/system-errors";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";

/** If a sandbox reached a limit of the system while it started, going by what it printed. */
export function explainStartLimit(stderr: string): SandboxUnavailable | undefined {
  const [reason, ...remedy] = explainOutput(stderr)?.split(/(?<=\.) /) ?? [];
  if (reason === undefined) return undefined;
  return new SandboxUnavailable(`The sandbox could not start. ${reason}`, remedy.join(" "));
}
