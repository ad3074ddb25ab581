// The machines that runs of this server use right now, for those who look at their ports and terminals.
import type { Duplex } from "node:stream";
import type { Workspace } from "@agentcli/protocol";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";

export interface LiveMachine {
  config: Pick<EnvironmentFile, "ports" | "terminals">;
  workspace: Pick<Workspace, "exec">;
  /** Closed at once if nothing listens there. */
  dial(port: number): Duplex;
  /** Aborts when the run leaves the machine. */
  ended: AbortSignal;
}

export interface LiveMachines {
  /** Undefined: no run of this server uses the agent's machine. */
  find(agentId: string): LiveMachine | undefined;
  /** Returns what removes it. */
  add(agentId: string, machine: Omit<LiveMachine, "ended">): () => void;
}

export function openLiveMachines(): LiveMachines {
  const live = new Map<string, LiveMachine>();
  return {
    find: (agentId) => live.get(agentId),
    add(agentId, machine) {
      const end = new AbortController();
      const entry = { ...machine, ended: end.signal };
      live.set(agentId, entry);
      return () => {
        end.abort();
        if (live.get(agentId) === entry) live.delete(agentId);
      };
    },
  };
}
