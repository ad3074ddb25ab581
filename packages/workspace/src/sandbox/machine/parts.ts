// What a machine is started with: the process of its server, the filter of its system calls, its limits and its way out.

export { type Bridge, explainTarget, openEgressProxy, readRules, type TargetExplanation } from "../../egress/index.ts";
export {
  freezeGroup,
  killGroup,
  type MachineLimits,
  type OpenedLimits,
  openLimits,
  removeGroup,
  shareTemporary,
  thawGroup,
} from "../../limits/index.ts";
export { proxyVariables } from "../../wire/index.ts";
export { findBubblewrap } from "../bubblewrap/find.ts";
export { type ConfinedProcess, setupDescriptor, startConfined } from "../confined-process.ts";
export { inEgressNetwork } from "../egress-network.ts";
export { type MachineFilterOptions, machineFilter } from "../machine-filter.ts";
export { findTerminalLibrary } from "../runtime.ts";
export { existingSystemPaths, findSystemPath, generatedFiles } from "../system-paths.ts";
