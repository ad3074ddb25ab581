// The filter of system calls for the processes of a machine.
import { architectureOf } from "./seccomp/architecture.ts";
import { seccompProgram } from "./seccomp/filter.ts";

export interface MachineFilterOptions {
  setIdFiles: "allowed" | "refused";
}

/** Undefined on unsupported architectures. A machine has its own loopback and its own sockets, so it may use both. */
export function machineFilter({ setIdFiles }: MachineFilterOptions): Buffer | undefined {
  const architecture = architectureOf(process.arch);
  const sockets = { unixSockets: "allowed", internetSockets: "allowed" } as const;
  return architecture && seccompProgram({ architecture, ...sockets, nestedSandboxes: "refused", setIdFiles });
}
