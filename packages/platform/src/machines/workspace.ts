// The workspace of a running machine: its server gets its configuration and answers with its first frame.
import type { Workspace } from "@agentcli/protocol";
import { connectWorkspace, loadMachineParts, type ServerConfig } from "@agentcli/workspace";
import type { Supervisor } from "./provider.ts";

export interface MachineWorkspaceOptions {
  /** An existing directory of the machine. */
  root: string;
  incarnation: string;
  env: Record<string, string>;
}

export async function openMachineWorkspace(
  supervisor: Supervisor,
  { root, incarnation, env }: MachineWorkspaceOptions,
): Promise<Workspace> {
  const { proxyVariables } = await loadMachineParts();
  const { config } = supervisor;
  const variables = config.egress === "bridge" ? { ...env, ...proxyVariables() } : env;
  const line: ServerConfig = { ...config, root, incarnation, env: variables, writable: "anywhere" };
  supervisor.writable.write(`${JSON.stringify(line)}\n`);
  return connectWorkspace(supervisor);
}
