// The machines that runs of this server use right now, for those who look at their ports and terminals.
import type { Duplex } from "node:stream";
import type { Workspace } from "@agentcli/protocol";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";

export interface MachineInUse {
  config: Pick<EnvironmentFile, "ports" | "terminals">;
  workspace: Pick<Workspace, "exec">;
  /** Closed at once if nothing listens there. */
  dial(port: number): Duplex;
  /** Aborts when the run leaves the machine. */
  ended: AbortSignal;
}

export interface MachinesInUse {
  /** Undefined: no run of this server uses the agent's machine. */
  find(agentId: string): MachineInUse | undefined;
  /** Returns what removes it. */
  add(agentId: string, machine: Omit<MachineInUse, "ended">): () => void;
}

export function openMachinesInUse(): MachinesInUse {
  const machines = new Map<string, MachineInUse>();
  return {
    find: (agentId) => machines.get(agentId),
    add(agentId, machine) {
      const end = new AbortController();
      const entry = { ...machine, ended: end.signal };
      machines.set(agentId, entry);
      return () => {
        end.abort();
        if (machines.get(agentId) === entry) machines.delete(agentId);
      };
    },
  };
}
