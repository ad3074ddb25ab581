// What a machine is started with: the process of its server, the filter of its system calls, its limits and its way out.
import { architectureOf } from "../seccomp/architecture.ts";
import { seccompProgram } from "../seccomp/filter.ts";

export { type Bridge, openEgressProxy, readRules } from "../../egress/index.ts";
export {
  freezeGroup,
  killGroup,
  type MachineLimits,
  type OpenedLimits,
  openLimits,
  thawGroup,
} from "../../limits/index.ts";
export { proxyVariables } from "../../wire/index.ts";
export { findBubblewrap } from "../bubblewrap/find.ts";
export { type ConfinedProcess, setupDescriptor, startConfined } from "../confined-process.ts";
export { findTerminalLibrary, type TerminalLibrary } from "../runtime.ts";
export { existingSystemPaths, findSystemPath, generatedFiles } from "../system-paths.ts";

export interface MachineFilterOptions {
  setIdFiles: "allowed" | "refused";
}

/** Undefined on unsupported architectures. A machine has its own loopback and its own sockets, so it may use both. */
export function machineFilter({ setIdFiles }: MachineFilterOptions): Buffer | undefined {
  const architecture = architectureOf(process.arch);
  const sockets = { unixSockets: "allowed", internetSockets: "allowed" } as const;
  return architecture && seccompProgram({ architecture, ...sockets, nestedSandboxes: "refused", setIdFiles });
}
