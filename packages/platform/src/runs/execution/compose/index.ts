// Everything a run is driven with.
export { openAssembly, type RunAssembly } from "./assembly.ts";
export { type ChosenModel, chooseModel } from "./model.ts";
export { probeForAgents } from "./probe.ts";
export { relocateHooks } from "./relocate-hooks.ts";
export { openSandboxes, type Sandboxes } from "./sandboxes.ts";
export { planRun, type RunPlan, turnSettings } from "./turn.ts";
